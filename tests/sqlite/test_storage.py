"""What retention removes goes back to the file system."""

from __future__ import annotations

from datetime import timedelta

from tests.sqlite.conftest import JOB

HOUR = timedelta(hours=1)


async def test_the_file_shrinks_after_retention(queue, clock, connection):
    await queue.submit_tasks(JOB, [{"text": "x" * 2_000}] * 1_000)
    for _ in range(5):
        leases = await queue.claim_tasks(holder="me", lease=HOUR, in_room="@global", quantity=200)
        await queue.complete_tasks(leases)
    full = pages(connection)
    clock.advance(seconds=1)
    assert len(await queue.prune_tasks(older_than=timedelta(), batch=1_000)) == 1_000
    assert pages(connection) == full
    while (await queue.sweep("storage"))[0].changed:
        pass
    assert pages(connection) < full / 4


def pages(connection):
    return connection.execute("pragma page_count").fetchone()[0]
