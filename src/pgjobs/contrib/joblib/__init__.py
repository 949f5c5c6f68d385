"""Workers and providers over HTTP and Socket.IO, without an event loop.

with RemoteManager(Api("http://127.0.0.1:8787", token), tsio=tsio) as manager:
    @manager.register
    class Rotate(Extension): ...

    for task in manager.listen():
        ...
"""

from pgjobs.contrib.joblib.api import Api, ApiManager
from pgjobs.contrib.joblib.extensions import Category, Extension, Provider
from pgjobs.contrib.joblib.manager import RemoteManager
from pgjobs.contrib.joblib.tasks import ClaimedTask, TaskCancelled, TaskStream

JobManager = RemoteManager
"""The name that the documents of the rooms API use."""

__all__ = [
    "Api",
    "ApiManager",
    "Category",
    "ClaimedTask",
    "Extension",
    "JobManager",
    "Provider",
    "RemoteManager",
    "TaskCancelled",
    "TaskStream",
]
