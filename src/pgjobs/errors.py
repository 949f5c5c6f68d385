"""One problem, three faces: a SQLSTATE raised in SQL, an exception here, a problem type over HTTP."""

from __future__ import annotations

import re
from typing import ClassVar


class PgJobsError(Exception):
    """Anything pgjobs refuses; `detail` says what is, `hint` says what would work."""

    sqlstate: ClassVar[str] = ""
    problem: ClassVar[str] = "internal-error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, *, detail: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint

    def __str__(self) -> str:
        """Message, detail and hint, which is what a traceback and a log show."""
        parts = [part for part in (self.message, self.detail, self.hint) if part]
        return ". ".join([*(part.rstrip(".") for part in parts[:-1]), *parts[-1:]])


class NotFound(PgJobsError):
    """Something was named that does not exist."""

    status = 404


class JobNotFound(NotFound):
    """No such job, or not visible from there."""

    sqlstate, problem = "PJ001", "job-not-found"


class TaskNotFound(NotFound):
    """No such task."""

    sqlstate, problem = "PJ002", "task-not-found"


class WorkerNotFound(NotFound):
    """No such worker: never registered, retired, or removed after its heartbeats stopped."""

    sqlstate, problem = "PJ003", "worker-not-found"


class ProviderNotFound(NotFound):
    """No such provider, or not visible from there."""

    sqlstate, problem = "PJ004", "provider-not-found"


class Conflict(PgJobsError):
    """The request does not fit the current state of things."""

    status = 409


class SchemaConflict(Conflict):
    """The job is registered with another schema."""

    sqlstate, problem = "PJ005", "schema-conflict"


class InvalidTransition(Conflict):
    """The task's current status does not allow this change."""

    sqlstate, problem = "PJ006", "invalid-task-transition"


class LeaseLost(Conflict):
    """The lease lapsed or passed to another worker; stop working on the task."""

    sqlstate, problem = "PJ007", "lease-lost"


class NoWorkersAvailable(Conflict):
    """No worker serves the job, and the caller requires one."""

    sqlstate, problem = "PJ008", "no-workers-available"


class InvalidCategory(PgJobsError):
    """The category is not one this installation allows."""

    sqlstate, problem, status = "PJ009", "invalid-category", 400


class InvalidRoom(PgJobsError):
    """Room names are not empty and contain neither `@` nor `:`, but for `@global` and `@internal`."""

    sqlstate, problem, status = "PJ010", "invalid-room-id", 400


class Forbidden(PgJobsError):
    """The acting user may not do this."""

    sqlstate, problem, status = "PJ011", "forbidden", 403


class PayloadTooLarge(PgJobsError):
    """A payload or result exceeds the size limit."""

    sqlstate, problem, status = "PJ012", "payload-too-large", 413


class PayloadInvalid(PgJobsError):
    """A payload does not fit: too deep, not JSON, or not what the job's schema asks for."""

    sqlstate, problem, status = "PJ013", "payload-invalid", 422


class InvalidArgument(PgJobsError):
    """An argument is missing, malformed or out of range."""

    sqlstate, problem, status = "PJ014", "validation-error", 422


class InternalJobNotConfigured(PgJobsError):
    """An `@internal` job was called on a server that has no executor for it."""

    sqlstate, problem, status = "PJ015", "internal-job-not-configured", 503


class ProviderTimeout(PgJobsError):
    """The provider did not answer in time."""

    sqlstate, problem, status = "PJ016", "provider-timeout", 504


class Unauthorized(PgJobsError):
    """No valid credentials were presented."""

    sqlstate, problem, status = "PJ017", "unauthorized", 401


class RoomLocked(PgJobsError):
    """The host application has locked the room."""

    sqlstate, problem, status = "PJ018", "room-locked", 423


class JobUnavailable(Conflict):
    """The job is archived, or still has work that prevents this."""

    sqlstate, problem = "PJ019", "job-unavailable"


class DirectChange(Conflict):
    """Somebody tried to change rows without a verb; the guards refused."""

    sqlstate, problem = "PJ020", "direct-change"


class ScheduleNotFound(NotFound):
    """No such schedule."""

    sqlstate, problem = "PJ021", "schedule-not-found"


class NotOnSqlite(PgJobsError):
    """SQLite, which is for tests, does not have this: it needs Postgres."""

    sqlstate, problem, status = "PJ022", "not-on-sqlite", 501

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = "Use Postgres: pip install 'pgjobs-server[embedded]', then pgjobs dev starts one.",
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)


class TokenNotFound(NotFound):
    """No such API token."""

    sqlstate, problem = "PJ023", "token-not-found"


class WorkflowNotFound(NotFound):
    """No such workflow."""

    sqlstate, problem = "PJ024", "workflow-not-found"


class QuotaExceeded(PgJobsError, ValueError):
    """The owner has as many tasks as the quota allows; later there is room again."""

    sqlstate, problem, status = "PJ025", "quota-exceeded", 429

    @property
    def retry_after(self) -> int:
        """In how many seconds to try again."""
        said = re.search(r"([0-9]+) s\b", self.hint or "")
        return int(said[1]) if said else 1


class SchemaBehind(PgJobsError):
    """The database was not migrated to the version this program needs."""

    problem, status = "schema-behind", 503


class SchemaChanged(PgJobsError):
    """The schema was upgraded during a transaction, which must be rolled back and run again."""

    problem, status = "schema-changed", 503


class DatabaseUnavailable(PgJobsError):
    """The database cannot be reached or written to, or a deadlock persisted; retry."""

    problem, status = "database-unavailable", 503


class MigrationFailed(PgJobsError):
    """A migration could not be applied; nothing was changed."""

    problem = "migration-failed"


class SchemaAhead(MigrationFailed):
    """The database was migrated by a newer version. Programs of this one work, but cannot take it back."""


def _leaves(cls: type[PgJobsError]) -> list[type[PgJobsError]]:
    return [cls, *(leaf for child in cls.__subclasses__() for leaf in _leaves(child))]


BY_SQLSTATE: dict[str, type[PgJobsError]] = {
    cls.sqlstate: cls for cls in _leaves(PgJobsError) if cls.sqlstate
}
