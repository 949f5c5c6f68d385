"""What the files say under another schema's name."""

from __future__ import annotations

import re

import pytest

from pgjobs.schema.release import read_release, render


@pytest.mark.parametrize(
    ("written", "rendered"),
    [
        ("select * from pgjobs.tasks", "select * from q.tasks"),
        ("(pgjobs._now())", "(q._now())"),
        ("set_config('pgjobs.floor_' || lane, $1, false)", "set_config('q.floor_' || lane, $1, false)"),
        ("format('drop view pgjobs.%I', name)", "format('drop view q.%I', name)"),
        ("to_regnamespace('pgjobs')", "to_regnamespace('q')"),
        ("create schema if not exists pgjobs;", "create schema if not exists q;"),
        ("drop schema if exists pgjobs;", "drop schema if exists q;"),
        ("grant usage on schema pgjobs to pgjobs_api;", "grant usage on schema q to r_api;"),
        ("set search_path = pg_catalog, pgjobs, pg_temp", "set search_path = pg_catalog, q, pg_temp"),
        ("grant pgjobs_readonly to pgjobs_operator;", "grant r_readonly to r_operator;"),
        (
            "create role pgjobs_worker; create role pgjobs_producer",
            "create role r_worker; create role r_producer",
        ),
        (
            "my_pgjobs.tasks, pgjobs_workers, pgjobs_worker_2",
            "my_pgjobs.tasks, pgjobs_workers, pgjobs_worker_2",
        ),
        ("see https://example.com/pgjobs.html", "see https://example.com/pgjobs.html"),
    ],
)
def test_names_follow_the_schema_and_the_roles_prefix(written, rendered):
    assert render(written, "q", "r") == rendered


def test_the_default_names_change_nothing():
    sql = "create schema pgjobs; grant usage on schema pgjobs to pgjobs_api; select 'pgjobs', pgjobs._now();"
    assert render(sql, "pgjobs", "pgjobs") == sql


def test_no_shipped_file_keeps_the_default_name():
    release = read_release("elsewhere", "others")
    for script in (*release.migrations, *release.code, *release.grants):
        for line in script.sql.splitlines():
            assert not re.search("pgjobs", line.partition("--")[0]), f"{script.name}: {line}"
