"""FastAPI with a worker inside: one process that takes requests and runs their tasks.

    export PGJOBS_DATABASE_URL=postgresql://localhost/mydb
    pgjobs migrate
    uvicorn --app-dir examples fastapi_app:app
    curl -X POST 'localhost:8000/mails?to=ada@example.org'    # {"task": 1}
    curl localhost:8000/mails/1                               # {"status": "completed", "result": "sent to …"}

Start it as often as you like: each process claims its share. When tasks get heavy, move them to processes
of their own with `pgjobs worker fastapi_app:jobs`, and leave the `Worker` out here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from pgjobs import Jobs, Queue, Worker

jobs = Jobs(category="mail")


@jobs.task(max_attempts=5)
async def send(to: str) -> str:
    return f"sent to {to}"


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with await Queue.connect() as queue:
        jobs.use(queue)
        app.state.queue = queue
        async with Worker(queue, jobs):
            yield


app = FastAPI(lifespan=lifespan)


@app.post("/mails", status_code=202)
async def submit(to: str) -> dict[str, int]:
    return {"task": (await send.submit(to)).id}


@app.get("/mails/{task_id}")
async def show(task_id: int) -> dict[str, Any]:
    task = await app.state.queue.get_task(task_id)
    return {"status": task.status, "result": task.result}
