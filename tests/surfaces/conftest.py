"""The HTTP API over a real socket, on every driver."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from pydantic import SecretStr

from pgjobs.queue.server import ServerQueue as Queue
from pgjobs.server import ApiSettings
from tests.surfaces.rest_server import SECRET, Api, app_on, serving, token_of

Serve = Callable[..., str]


@pytest.fixture(params=["database_url", "sqlite_url"], ids=["postgres", "sqlite"])
def queue_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


@pytest.fixture
async def queue(queue_url: str) -> AsyncIterator[Queue]:
    """The same queue the server uses, by another connection."""
    queue = await Queue.connect(queue_url)
    yield queue
    await queue.close()


@pytest.fixture
def serve(queue_url: str, queue: Queue) -> Iterator[Serve]:
    """Starts a stand-alone server with these settings and gives its address."""
    with ExitStack() as servers:

        def start(**settings: Any) -> str:
            settings = {"auth_secret": SecretStr(SECRET), **settings}
            app = app_on(queue_url, ApiSettings(**settings))
            return servers.enter_context(serving(app))

        yield start


@pytest.fixture
def base(serve: Serve) -> str:
    return serve()


@pytest.fixture
def ada(base: str) -> Iterator[Api]:
    with Api(base, token_of("ada")) as api:
        yield api


@pytest.fixture
def bob(base: str) -> Iterator[Api]:
    with Api(base, token_of("bob")) as api:
        yield api


@pytest.fixture
def root(base: str) -> Iterator[Api]:
    with Api(base, token_of("root", is_superuser=True)) as api:
        yield api


@pytest.fixture
def nobody(base: str) -> Iterator[Api]:
    with Api(base, None) as api:
        yield api
