"""Libraries are what their packages hold, byte for byte, and the console loads nothing else."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import pgjobs
from pgjobs.server import console

CONSOLE = Path(pgjobs.__file__).parent / "server" / "console"
IMPORT = re.compile(r"""^(?:import|export)\b(?:[^;"'=]*\bfrom)?\s*["']([^"'\n]+)["'];?$""", re.MULTILINE)
PLACES = {"console": CONSOLE / "vendor", "tests": Path(__file__).parent / "vendor"}


@pytest.mark.parametrize("place", PLACES)
def test_vendored_files_are_those_of_the_manifest(place: str):
    directory = PLACES[place]
    listed = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    for entry in listed:
        assert sha256((directory / entry["file"]).read_bytes()).hexdigest() == entry["sha256"], entry["file"]
        assert (directory / entry["licence_file"]).read_text(encoding="utf-8").strip()
        assert re.fullmatch(r"\d+\.\d+\.\d+", entry["version"])
    known = (
        {entry["file"] for entry in listed} | {entry["licence_file"] for entry in listed} | {"manifest.json"}
    )
    there = {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}
    assert there == known


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [
        ("gzip, deflate, br", True),
        ("br;q=1, gzip;q=0.5", True),
        ("identity", False),
        ("gzip;q=0", False),
        ("", False),
    ],
)
def test_files_are_sent_packed_to_whoever_can_unpack_them(accepted: str, is_packed: bool):
    app = FastAPI()
    app.include_router(console)
    content = (CONSOLE / "vendor" / "uplot.js").read_bytes()
    client = TestClient(app, headers={"Accept-Encoding": accepted})
    answer = client.get("/ui/vendor/uplot.js")
    assert answer.content == content
    assert (answer.headers.get("content-encoding") == "gzip") is is_packed
    assert (int(answer.headers["content-length"]) < len(content) / 2) is is_packed
    assert answer.headers["vary"] == "Accept-Encoding"
    again = {"If-None-Match": answer.headers["etag"]}
    assert client.get("/ui/vendor/uplot.js", headers=again).status_code == 304
    other = {"Accept-Encoding": "identity" if is_packed else "gzip"}
    assert client.get("/ui/vendor/uplot.js", headers={**again, **other}).status_code == 200


def test_modules_are_imported_by_relative_address_only():
    modules = [*CONSOLE.glob("*.js"), *CONSOLE.glob("[pv]*/*.js")]
    assert len(modules) > 20
    for module in modules:
        for address in IMPORT.findall(module.read_text(encoding="utf-8")):
            assert address.startswith("."), (module.name, address)
            assert (module.parent / address).is_file(), (module.name, address)


def test_pages_have_neither_inline_scripts_nor_styles_nor_foreign_addresses():
    page = (CONSOLE / "index.html").read_text(encoding="utf-8")
    assert "style=" not in page
    assert not re.search(r"<style|\son\w+=|<script>", page)
    for path in [*CONSOLE.glob("*.js"), *CONSOLE.glob("p*/*.js"), *CONSOLE.glob("style/*.css")]:
        assert not re.search(r"https?://(?!www\.w3\.org)", path.read_text(encoding="utf-8")), path.name
        assert "innerHTML" not in path.read_text(encoding="utf-8")


def test_modules_stay_readable():
    for path in [*CONSOLE.glob("*.js"), *CONSOLE.glob("p*/*.js")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path.name
