"""The jobs of the example: put your own module beside it, and name it in the worker's command."""

from pgjobs import Jobs

jobs = Jobs(category="mail")


@jobs.task(name="Welcome", max_attempts=3)
async def welcome(to: str) -> str:
    return f"sent to {to}"
