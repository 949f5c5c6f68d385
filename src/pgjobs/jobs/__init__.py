"""What an application writes: handlers registered as jobs, and what a handler sees while it runs."""

from pgjobs.jobs.jobs import Jobs as Jobs
