"""A transactional outbox: an order and the task that ships it are committed together, or not at all.

    export PGJOBS_DATABASE_URL=postgresql://localhost/mydb
    pgjobs migrate
    python examples/outbox.py

The handler writes its result and completes the task in one transaction too, so an order is marked as
shipped once, however often its worker dies.
"""

from __future__ import annotations

import asyncio

from pgjobs import Jobs, Queue, TaskContext, Worker

jobs = Jobs(category="orders")


@jobs.task
async def ship(task: TaskContext, order: int) -> None:
    async with task.transaction() as connection:
        await connection.execute("update orders set shipped = shipped + 1 where id = $1", order)


async def place(queue: Queue, order: int, *, is_paid: bool) -> None:
    async with queue.driver.transaction() as connection:
        await connection.execute("insert into orders (id) values ($1)", order)
        await ship.with_options(connection=connection).submit(order)
        if not is_paid:
            raise ValueError(f"order {order} is not paid")


async def main() -> None:
    async with await Queue.connect() as queue:
        jobs.use(queue)
        await jobs.register()
        async with queue.driver.transaction() as connection:
            await connection.execute(
                "create table orders (id integer primary key, shipped integer default 0)"
            )
        await place(queue, 1, is_paid=True)
        try:
            await place(queue, 2, is_paid=False)
        except ValueError as error:
            print(error)
        await Worker(queue, jobs).run_until_empty()
        async with queue.driver.transaction() as connection:
            for row in await connection.fetch("select id, shipped from orders"):
                print(f"order {row['id']}: shipped {row['shipped']} time")


if __name__ == "__main__":
    asyncio.run(main())
