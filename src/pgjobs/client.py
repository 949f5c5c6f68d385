"""The SDK of the rooms API under the name its documents use: `from pgjobs.client import JobManager`."""

from pgjobs.contrib.joblib import *  # noqa: F403
