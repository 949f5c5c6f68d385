"""How a command ends: what it says, and with which code."""

from __future__ import annotations

import sqlite3
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from pgjobs.errors import PgJobsError, SchemaBehind

ERROR, USAGE, NOT_FOUND, REFUSED, BEHIND, UNHEALTHY, AWAITED_FAILED = range(1, 8)
TIMED_OUT, INTERRUPTED = 124, 130

_BY_HTTP_STATUS = {
    400: USAGE, 422: USAGE, 404: NOT_FOUND, 401: REFUSED, 403: REFUSED, 409: REFUSED,
    413: REFUSED, 423: REFUSED, 501: REFUSED,
}  # fmt: skip


def code_of(error: PgJobsError) -> int:
    return BEHIND if isinstance(error, SchemaBehind) else _BY_HTTP_STATUS.get(error.status, ERROR)


def without_credentials(text: str) -> str:
    """The text without what gives access."""
    from pgjobs.drivers.redaction import redact, unturned

    return unturned("\n".join(map(redact, text.split("\n"))))


def sentence(error: PgJobsError) -> str:
    """Message, detail and hint in one line."""
    return without_credentials(" ".join(str(error).rstrip(".").split()))


@contextmanager
def errors_told() -> Iterator[None]:
    """Tells errors in a line on stderr and leaves with their code."""
    try:
        yield
    except PgJobsError as error:
        _leave(sentence(error), code_of(error))
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except (OSError, sqlite3.Error) as error:
        _leave(_text_of(error), ERROR)
    except ModuleNotFoundError:
        raise
    except Exception as error:
        if type(error).__module__.startswith("asyncpg"):
            _leave(_text_of(error), ERROR)
        # A defect: all of it, but for what a URL may give away.
        sys.stderr.write(without_credentials(traceback.format_exc()))
        raise SystemExit(ERROR) from None


def _text_of(error: Exception) -> str:
    if isinstance(error, TimeoutError) and not str(error):
        return "The database did not answer in time"
    if type(error).__name__ == "TargetServerAttributeNotMatched":
        return "None of the servers is what the URL's target_session_attrs asks for"
    return without_credentials(" ".join((str(error) or type(error).__name__).split()))


def _leave(text: str, code: int) -> None:
    sys.stderr.write(f"pgjobs: {text}\n")
    raise SystemExit(code) from None
