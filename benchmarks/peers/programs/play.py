"""The half of a player that is the same for every Python system: asks come as lines of JSON, answers go."""

import asyncio
import json
import sys
import time

PAYLOAD = {
    "n": 1,
    "text": "some payload of about one hundred bytes, which is what most people send, more or less",
}
A_CALL = 1_000


class System:
    """What a player says about its system. `handle` must be called with each task's payload."""

    mode = ""

    async def open(self, url):
        """Installs the system in an empty database and connects."""

    async def submit(self, payload): ...

    async def submit_many(self, payloads): ...

    async def submit_workflows(self, count):
        """Submits so many workflows of three steps, each of which ends with `self.handle({})`."""

    async def start(self, handle, *, alone):
        """Starts the worker; `alone` says that tasks come one at a time, and latency counts."""

    async def is_finished(self):
        """Whether the system's own tables hold nothing unfinished."""


class Play:
    def __init__(self, system):
        self.system = system
        self.handled = 0
        self.expected = 0
        self.reached = asyncio.Event()
        self.picked_up = []

    def handle(self, payload):
        at = payload.get("at")
        if at is not None:
            self.picked_up.append((time.perf_counter() - at) * 1000)
        self.handled += 1
        if self.handled >= self.expected:
            self.reached.set()

    def expect(self, count):
        self.expected, self.handled = count, 0
        self.reached.clear()

    async def prepare(self, url):
        await self.system.open(url)
        return self.system.mode

    async def one(self, seconds):
        await self.system.submit(PAYLOAD)
        submitted, started = 0, time.perf_counter()
        while (passed := time.perf_counter() - started) < seconds:
            await self.system.submit(PAYLOAD)
            submitted += 1
        return submitted / passed

    async def bulk(self, count):
        started = time.perf_counter()
        for start in range(0, count, A_CALL):
            await self.system.submit_many([PAYLOAD] * min(A_CALL, count - start))
        return count / (time.perf_counter() - started)

    async def drain(self, count):
        self.expect(count)
        started = time.perf_counter()
        await self.system.start(self.handle, alone=False)
        await self.reached.wait()
        while not await self.system.is_finished():
            await asyncio.sleep(0.005)
        return count / (time.perf_counter() - started)

    async def workflows(self, count):
        self.expect(count)
        await self.system.start(self.handle, alone=False)
        started = time.perf_counter()
        await self.system.submit_workflows(count)
        await self.reached.wait()
        while not await self.system.is_finished():
            await asyncio.sleep(0.005)
        return count / (time.perf_counter() - started)

    async def pickup(self, count):
        await self.system.start(self.handle, alone=True)
        await asyncio.sleep(1)
        for _ in range(count + 3):
            self.expect(1)
            await self.system.submit({"at": time.perf_counter()})
            await self.reached.wait()
            await asyncio.sleep(0.05)
        return self.picked_up[3:]

    async def start(self):
        await self.system.start(self.handle, alone=True)


def play(system, run=asyncio.run):
    """Answers until its input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr

    async def answer():
        player = Play(system)
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            what = asked.pop("do")
            if what == "prepare":
                asked["url"] = sys.argv[1]
            print(json.dumps({"answer": await getattr(player, what)(**asked)}), file=answers, flush=True)

    run(answer())
