"""Many browsers at little cost: Socket.IO spoken by hand over plain websockets."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from contextlib import suppress

import aiohttp

STATUS = '42["task_status_event",'


class Browser:
    """Counts the status changes it is told of, by task and status."""

    def __init__(self, room: str) -> None:
        self.room = room
        self.told: Counter[tuple[str, str]] = Counter()
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._reading: asyncio.Task[None] | None = None

    async def connect(self, session: aiohttp.ClientSession, base: str, token: str) -> None:
        socket = await session.ws_connect(f"{base}/socket.io/?EIO=4&transport=websocket", max_msg_size=0)
        await socket.receive_str()
        await socket.send_str("40" + json.dumps({"token": token}))
        assert (await socket.receive_str()).startswith("40")
        await socket.send_str("420" + json.dumps(["join_room", {"room_id": self.room}]))
        assert json.loads((await socket.receive_str())[3:]) == [{"status": "ok"}]
        self._socket = socket
        self._reading = asyncio.create_task(self._read(socket))

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            if message.data == "2":
                await socket.send_str("3")
            elif message.data.startswith(STATUS):
                event = json.loads(message.data[2:])[1]
                self.told[event["id"], event["status"]] += 1

    async def leave(self) -> None:
        if self._socket is not None and self._reading is not None:
            await self._socket.close()
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
