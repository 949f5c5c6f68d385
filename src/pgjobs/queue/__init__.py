"""Queue: one typed method per verb, and the records they answer with."""

from pgjobs.queue.queue import Queue as Queue
