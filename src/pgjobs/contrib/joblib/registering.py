"""A worker's jobs and providers: registering them, and finding them again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, overload
from uuid import UUID

from pydantic import BaseModel

from pgjobs.contrib.joblib.api import Calls, in_path
from pgjobs.contrib.joblib.extensions import Provider, category_of
from pgjobs.contrib.joblib.live import LiveConnection
from pgjobs.contrib.joblib.providers import RegisteredProvider
from pgjobs.contrib.joblib.serving import Serving

GLOBAL = "@global"
JOIN_SECONDS = 2.0
Model = TypeVar("Model", bound=BaseModel)


class Registry(Mapping[str, type[BaseModel]]):
    """The classes of a worker's jobs by full name, and its providers."""

    calls: Calls
    _live: LiveConnection
    _serving: Serving

    def __init__(self) -> None:
        self._worker_id: UUID | None = None
        self._jobs: dict[str, tuple[type[BaseModel], dict[str, Any]]] = {}
        self._providers: dict[str, RegisteredProvider] = {}
        self._lock = threading.RLock()
        self._task_available = threading.Event()

    def __getitem__(self, full_name: str) -> type[BaseModel]:
        return self._jobs[full_name][0]

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._jobs))

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    @property
    def worker_id(self) -> UUID | None:
        return self._worker_id

    @property
    def handlers(self) -> dict[str, Any]:
        """What answers for each provider, by the provider's full name."""
        return {name: provider.handler for name, provider in self._providers.items()}

    def get_run_kwargs(self, name: str) -> dict[str, Any]:
        return self._jobs[name][1]

    def create_worker(self) -> UUID:
        """Registers the worker, unless there is one; registering a job or provider does so when needed."""
        with self._lock:
            if (worker_id := self._worker_id) is None:
                shown = self.calls.call_at_startup("POST", "/workers").json()
                worker_id = self._worker_id = UUID(shown["id"])
        self._serving.start()
        return worker_id

    @overload
    def register(
        self, cls: type[Model], *, room: str | None = None, run_kwargs: dict[str, Any] | None = None
    ) -> type[Model]: ...

    @overload
    def register(
        self, cls: None = None, *, room: str | None = None, run_kwargs: dict[str, Any] | None = None
    ) -> Callable[[type[Model]], type[Model]]: ...

    def register(
        self,
        cls: type[Model] | None = None,
        *,
        room: str | None = None,
        run_kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Registers a class as a job: a decorator, with or without arguments."""

        def registered(cls: type[Model]) -> type[Model]:
            self._register(cls, room or GLOBAL, run_kwargs or {})
            return cls

        return registered if cls is None else registered(cls)

    def _register(self, cls: type[BaseModel], room: str, run_kwargs: dict[str, Any]) -> None:
        category, name = category_of(cls), cls.__name__
        with self._lock:
            self._put(f"/rooms/{in_path(room)}/jobs", category, name, cls.model_json_schema())
            full_name = f"{room}:{category}:{name}"
            self._jobs[full_name] = (cls, run_kwargs)
        self._live.join(self._worker_id, [full_name], [], patience=JOIN_SECONDS)
        self._serving.start()
        # Tasks of the job may have been there first, and a loop that serves others already may be at rest.
        self._task_available.set()

    def register_provider(self, cls: type[Provider], *, name: str, handler: Any, room: str = GLOBAL) -> UUID:
        """Registers a provider whose reads `handler` answers; returns its id."""
        category = category_of(cls)
        full_name = f"{room}:{category}:{name}"
        with self._lock:
            shown = self._put(
                f"/rooms/{in_path(room)}/providers",
                category,
                name,
                cls.model_json_schema(),
                content_type=cls.content_type,
            )
            provider = self._providers[full_name] = RegisteredProvider(UUID(shown["id"]), cls, handler)
        self._live.join(self._worker_id, [], [full_name], patience=JOIN_SECONDS)
        self._serving.start()
        return provider.id

    def unregister_provider(self, full_name: str) -> None:
        """Removes a provider."""
        provider = self._providers.pop(full_name)
        self._live.leave(self._worker_id, [], [full_name])
        self.calls.call("DELETE", f"/providers/{provider.id}")

    def _put(self, path: str, category: str, name: str, schema: Any, **more: Any) -> dict[str, Any]:
        body = {"category": category, "name": name, "schema": schema, **more}
        if self._worker_id is not None:
            body["worker_id"] = str(self._worker_id)
        shown: dict[str, Any] = self.calls.call_at_startup("PUT", path, json=body).json()
        if shown.get("worker_id"):
            self._worker_id = UUID(shown["worker_id"])
        return shown
