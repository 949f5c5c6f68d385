"""Configuration from the environment."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from pgjobs.settings import Settings


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGJOBS_DATABASE_URL", "DATABASE_URL", "PGJOBS_SCHEMA", "PGJOBS_ROLE_PREFIX"):
        monkeypatch.delenv(name, raising=False)


def url_of(settings: Settings) -> str | None:
    return settings.database_url.get_secret_value() if settings.database_url else None


def test_our_own_url_outranks_the_common_one_and_an_argument_outranks_both(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://common/")
    assert url_of(Settings()) == "postgresql://common/"
    monkeypatch.setenv("PGJOBS_DATABASE_URL", "postgresql://own/")
    assert url_of(Settings()) == "postgresql://own/"
    assert url_of(Settings(database_url="postgresql://argument/")) == "postgresql://argument/"


def test_a_url_written_for_sqlalchemy_is_understood():
    assert url_of(Settings(database_url="postgresql+asyncpg://u:p+w://@h/d")) == "postgresql://u:p+w://@h/d"


def test_a_password_is_never_printed():
    settings = Settings(database_url="postgresql://user:hush@host/")
    assert "hush" not in f"{settings} {settings!r} {settings.model_dump()}"


def test_roles_are_named_after_the_schema_unless_told_otherwise(monkeypatch):
    assert Settings().role_prefix == "pgjobs"
    monkeypatch.setenv("PGJOBS_SCHEMA", "jobs_2")
    assert (Settings().database_schema, Settings().role_prefix) == ("jobs_2", "jobs_2")
    monkeypatch.setenv("PGJOBS_ROLE_PREFIX", "team")
    assert Settings().role_prefix == "team"
    assert Settings(database_schema="jobs_3").database_schema == "jobs_3"


@pytest.mark.parametrize("name", ["", "2jobs", "Jobs", "jobs-2", 'a";b', "a" * 41, "pg_jobs", "public"])
def test_a_schema_that_is_not_a_plain_name_of_its_own_is_refused(name):
    with pytest.raises(ValidationError):
        Settings(database_schema=name)
