"""`pgjobs quotas`."""

from __future__ import annotations

from tests.surfaces.cli.commands import run


def test_quotas_are_set_listed_and_lifted(database_url):
    done = run(
        "quotas", "set", "--room", "lab", "--owner", "ada", "--waiting", "5", PGJOBS_DATABASE_URL=database_url
    )
    assert (done.returncode, done.stderr) == (0, "The quota of ada in lab is set.\n"), done.stderr
    [_, row] = run("quotas", "list", PGJOBS_DATABASE_URL=database_url).stdout.splitlines()
    assert row.split()[:3] == ["lab", "ada", "5"]
    run(
        "quotas", "set", "--room", "lab", "--owner", "ada", "--waiting", "0", PGJOBS_DATABASE_URL=database_url
    )
    assert len(run("quotas", "list", PGJOBS_DATABASE_URL=database_url).stdout.splitlines()) <= 1
