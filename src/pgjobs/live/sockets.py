"""What Socket.IO clients may say: who they are, and which rooms they want to be in."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID, uuid4

from pydantic import BaseModel, ValidationError

from pgjobs.drivers.transient import is_away
from pgjobs.errors import (
    DatabaseUnavailable,
    Forbidden,
    InvalidArgument,
    PgJobsError,
    Unauthorized,
    WorkerNotFound,
)
from pgjobs.live.models import (
    JoinJobRoom,
    JoinProviderRoom,
    LeaveJobRoom,
    LeaveProviderRoom,
    LiveEvent,
    room_of,
    room_of_job,
    room_of_provider,
)
from pgjobs.queue.queue import Queue
from pgjobs.queue.room_names import validate_room_id
from pgjobs.queue.server import ServerQueue
from pgjobs.upkeep.sweeper import cleanup_worker

log = logging.getLogger("pgjobs.sockets")

Authenticate = Callable[[str | None], Awaitable[Any]]
"""From a token to an object with an `id`; refuses by raising."""
MayRead = Callable[[Any, str], Awaitable[bool]]
"""Whether a user may read a room."""
Answer = dict[str, Any]

OK: Answer = {"status": "ok"}


class JoinRoom(LiveEvent):
    """From a browser: it wants to hear what happens in a room."""

    room_id: str


class LeaveRoom(JoinRoom):
    """From a browser: it has left the room."""


async def anybody(_user: Any, _room_id: str) -> bool:
    return True


class SocketHandlers:
    """Handlers of one Socket.IO server. A lost connection removes its workers at once."""

    def __init__(
        self,
        sio: Any,
        queue: Queue,
        *,
        start: Callable[[], Awaitable[None]],
        stop: Callable[[], Awaitable[None]],
        authenticate: Authenticate,
        may_read: MayRead,
        namespace: str,
        queue_of: Callable[[Any], Queue] | None = None,
    ) -> None:
        self.is_closing = False
        self._sio = sio
        self._queue = ServerQueue.of(queue)
        self._start = start
        self._stop = stop
        self._authenticate = authenticate
        self._may_read = may_read
        self._namespace = namespace
        self._queue_of = queue_of or (lambda _user: queue)
        self._before: dict[str, Any] = {}
        # Not in the session, which a host may overwrite.
        self._users: dict[str, Any] = {}
        self._workers: dict[str, set[UUID]] = {}
        self._connections: dict[str, UUID] = {}

    def install(self) -> None:
        self._before = dict(getattr(self._sio, "handlers", {}).get(self._namespace, {}))
        self._sio.on("connect", self._connect, namespace=self._namespace)
        self._sio.on("disconnect", self._disconnect, namespace=self._namespace)
        for model, handle in (
            (JoinJobRoom, self._join_job),
            (LeaveJobRoom, self._leave_job),
            (JoinProviderRoom, self._join_provider),
            (LeaveProviderRoom, self._leave_provider),
            (JoinRoom, self._join_room),
            (LeaveRoom, self._leave_room),
        ):
            self._sio.on(model.event_name(), self._answering(model, handle), namespace=self._namespace)

    def close(self) -> None:
        """The server goes away, not its clients: their workers will connect to another one."""
        self.is_closing = True

    async def _connect(self, sid: str, environ: Mapping[str, Any], auth: Any = None) -> Any:
        from socketio.exceptions import ConnectionRefusedError as Refused

        try:
            user = await self._authenticate(_token(environ, auth))
            if user is None:
                raise Unauthorized("Nobody known bears this token")
        except PgJobsError as error:
            raise Refused(error.message, _problem(error)) from error
        except Exception as error:
            # Refused as well: left to itself the client would wait for an answer.
            log.warning("cannot tell who connects: %s: %s", type(error).__name__, error)
            kind = DatabaseUnavailable if is_away(error) else Unauthorized
            unknown = kind("Nobody can tell who you are")
            raise Refused(unknown.message, _problem(unknown)) from error
        self._users[sid], self._workers[sid], self._connections[sid] = user, set(), uuid4()
        try:
            await self._start()
            answer = (
                await _call(earlier, sid, environ, auth) if (earlier := self._before.get("connect")) else None
            )
        except BaseException:
            await self._forget(sid)
            raise
        if answer is False:
            await self._forget(sid)
            return False
        return None

    async def _disconnect(self, sid: str, reason: Any = None) -> None:
        connection_id = self._connections.get(sid)
        await self._lose(await self._forget(sid), connection_id)
        if earlier := self._before.get("disconnect"):
            await _call(earlier, sid, reason)

    async def _forget(self, sid: str) -> set[UUID]:
        """The workers of a connection that is no more; with the last one the feed is left."""
        self._users.pop(sid, None)
        self._connections.pop(sid, None)
        lost = self._workers.pop(sid, set())
        if not self._users:
            await self._stop()
        return lost

    async def _lose(self, workers: set[UUID], connection_id: UUID | None) -> None:
        for worker_id in workers.difference(*self._workers.values()):
            await self.retire(worker_id, connection_id)

    async def retire(self, worker_id: UUID, connection_id: UUID | None) -> None:
        """Takes the worker of a lost connection away, unless it has joined by another, here or elsewhere."""
        if self.is_closing:
            return
        try:
            await cleanup_worker(self._queue, worker_id, connection_id=connection_id)
        except Exception:
            log.exception("cannot retire worker %s, which has disconnected; the sweeper will", worker_id)

    async def _join_job(self, sid: str, asked: JoinJobRoom) -> None:
        await self._require(sid, asked.job_name.partition(":")[0])
        await self._own_worker(sid, asked.worker_id)
        await self._sio.enter_room(sid, room_of_job(asked.job_name), self._namespace)

    async def _leave_job(self, sid: str, asked: LeaveJobRoom) -> None:
        await self._sio.leave_room(sid, room_of_job(asked.job_name), self._namespace)

    async def _join_provider(self, sid: str, asked: JoinProviderRoom) -> None:
        await self._require(sid, asked.provider_name.partition(":")[0])
        user = await self._own_worker(sid, asked.worker_id)
        # Questions may be private: only the one who answers for the provider hears them.
        if (await self._queue.get_provider(asked.provider_name)).owner != str(user.id):
            raise Forbidden(f"Provider {asked.provider_name} belongs to someone else")
        await self._sio.enter_room(sid, room_of_provider(asked.provider_name), self._namespace)

    async def _leave_provider(self, sid: str, asked: LeaveProviderRoom) -> None:
        await self._sio.leave_room(sid, room_of_provider(asked.provider_name), self._namespace)

    async def _join_room(self, sid: str, asked: JoinRoom) -> None:
        validate_room_id(asked.room_id)
        await self._require(sid, asked.room_id)
        await self._sio.enter_room(sid, room_of(asked.room_id), self._namespace)

    async def _leave_room(self, sid: str, asked: LeaveRoom) -> None:
        await self._sio.leave_room(sid, room_of(asked.room_id), self._namespace)

    async def _require(self, sid: str, room_id: str) -> None:
        if not await self._may_read(self._users[sid], room_id):
            raise Forbidden(f"You are not a member of room {room_id[:200]}")

    async def _own_worker(self, sid: str, text: str) -> Any:
        """Binds a worker to the connection; it must be the user's, and this counts as a heartbeat."""
        try:
            worker_id = UUID(text)
        except ValueError as error:
            raise WorkerNotFound(f"Worker {text[:200]!r} does not exist") from error
        user, connection_id = self._users[sid], self._connections[sid]
        await self._queue_of(user).heartbeat_worker(
            worker_id, actor=str(user.id), connection_id=connection_id
        )
        if sid not in self._workers:
            # Lost meanwhile, when nobody knew of this worker yet.
            await self._lose({worker_id}, connection_id)
            raise Forbidden("The connection is lost")
        self._workers[sid].add(worker_id)
        async with self._sio.session(sid, self._namespace) as session:
            session["worker_id"] = str(worker_id)
        return user

    def _answering(self, model: type[BaseModel], handle: Callable[[str, Any], Awaitable[None]]) -> Any:
        async def answer(sid: str, data: Any = None) -> Answer:
            try:
                await handle(sid, model.model_validate(data))
            except ValidationError as error:
                return _problem(InvalidArgument(str(error.errors()[0]["msg"])))
            except PgJobsError as error:
                return _problem(error)
            except Exception:
                log.exception("cannot answer %s", model.__name__)
                return _problem(PgJobsError("Something went wrong here"))
            return OK

        return answer


def _token(environ: Mapping[str, Any], auth: Any) -> str | None:
    """From the `auth` a client connects with, or from its Authorization header."""
    if isinstance(auth, Mapping) and isinstance(auth.get("token"), str):
        return str(auth["token"])
    scheme, _, token = str(environ.get("HTTP_AUTHORIZATION", "")).partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def _problem(error: PgJobsError) -> Answer:
    return {"type": f"/v1/problems/{error.problem}", "status": error.status, "detail": error.message}


async def _call(handler: Any, *arguments: Any) -> Any:
    """A host's handler, which may take fewer arguments and need not be a coroutine."""
    try:
        answer = handler(*arguments)
    except TypeError:
        answer = handler(*arguments[:-1])
    return await answer if isinstance(answer, Awaitable) else answer
