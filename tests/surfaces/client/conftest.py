"""The client SDK of a superuser, with a connection of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import socketio

from pgjobs.contrib.joblib import Api, RemoteManager
from tests.surfaces.rest_server import token_of


@pytest.fixture
def token() -> str:
    return token_of("root", is_superuser=True)


@pytest.fixture
def sdk(base: str, token: str) -> Iterator[Api]:
    sdk = Api(base, token)
    yield sdk
    sdk.http.close()


@pytest.fixture
def manager(sdk: Api) -> Iterator[RemoteManager]:
    with RemoteManager(sdk, polling_interval=0.1) as manager:
        yield manager


@pytest.fixture
def tsio(base: str, token: str) -> Iterator[socketio.Client]:
    tsio = socketio.Client()
    tsio.connect(base, auth={"token": token}, transports=["websocket"], wait_timeout=10)
    yield tsio
    tsio.disconnect()
