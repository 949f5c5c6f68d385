"""Three Postgres nodes under Patroni, with etcd to vote in and HAProxy in front, all on 127.0.0.1."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import httpx

from pgjobs.schema.binaries import unprivileged_account
from tests.server import new_home
from tests.surfaces.processes import free_port
from tests.surfaces.rest_server import NO_TLS

PROGRAMS = ("patroni", "etcd", "haproxy", "patronictl")
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: int(place.parent.name))
LEASE_SECONDS = 5
"""How long a leader that says nothing stays leader. Patroni's own default is 30; tests are in a hurry."""


def missing() -> list[str]:
    """What would have to be installed: Debian's packages patroni, etcd-server, haproxy and postgresql."""
    found = [program for program in PROGRAMS if shutil.which(program) is None]
    return found if BINARIES else [*found, "postgresql"]


class Node:
    """Patroni and the Postgres that it runs. Both die together, as they do with their machine."""

    def __init__(self, home: Path, name: str) -> None:
        self.name = name
        self.port, self.rest_port = free_port(), free_port()
        self.home = home / name
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def postmaster(self) -> int | None:
        with suppress(FileNotFoundError, IndexError, ValueError):
            return int((self.home / "data" / "postmaster.pid").read_text().split()[0])
        return None

    def kill(self) -> None:
        """Without a word, as a machine that loses its power."""
        assert self.process is not None
        postmaster = self.postmaster
        self.process.kill()
        if postmaster is not None:
            with suppress(ProcessLookupError):
                os.kill(postmaster, signal.SIGKILL)
        self.process.wait(30)
        self.process = None

    def configuration(self, etcd_port: int, password: str) -> dict[str, Any]:
        logins = {
            login: {"username": name, "password": password}
            for login, name in (
                ("superuser", "postgres"),
                ("replication", "follower"),
                ("rewind", "rewinder"),
            )
        }
        return {
            "scope": "pgjobs",
            "name": self.name,
            "restapi": {"listen": _at(self.rest_port), "connect_address": _at(self.rest_port)},
            "etcd3": {"hosts": _at(etcd_port)},
            "bootstrap": {
                "dcs": {
                    "ttl": LEASE_SECONDS,
                    "loop_wait": 1,
                    "retry_timeout": 2,
                    "synchronous_mode": True,
                    # Nothing is acknowledged that only one node has, not even while a second is not there.
                    "synchronous_mode_strict": True,
                    "postgresql": {
                        "use_pg_rewind": True,
                        "parameters": {"max_connections": 100, "wal_keep_size": "256MB"},
                    },
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"],
                "users": {},
            },
            "postgresql": {
                "listen": _at(self.port),
                "connect_address": _at(self.port),
                "data_dir": str(self.home / "data"),
                "bin_dir": str(BINARIES[-1]),
                "pgpass": str(self.home / "pgpass"),
                "authentication": logins,
                "parameters": {"unix_socket_directories": "", "shared_buffers": "64MB"},
                "pg_hba": [
                    "host replication follower 127.0.0.1/32 scram-sha-256",
                    "host all all 127.0.0.1/32 scram-sha-256",
                ],
            },
        }


class Cluster:
    """One address, behind which a leader acknowledges what at least one follower has."""

    def __init__(self) -> None:
        self._home = new_home()
        self._account = unprivileged_account()
        self._password = secrets.token_urlsafe(16)
        self._etcd_port, self._peer_port = free_port(), free_port()
        self.port, self.read_port = free_port(), free_port()
        self.nodes = [Node(self._home, f"node{number}") for number in (1, 2, 3)]
        self._others: list[subprocess.Popen[bytes]] = []
        self._http = httpx.AsyncClient(verify=NO_TLS, timeout=2)

    @property
    def url(self) -> str:
        """The leader, whoever that is."""
        return self._url(self.port)

    @property
    def read_url(self) -> str:
        """A follower."""
        return self._url(self.read_port)

    def _url(self, port: int) -> str:
        return f"postgresql://postgres:{self._password}@127.0.0.1:{port}/postgres"

    async def __aenter__(self) -> Self:
        try:
            self._start_etcd()
            for node in self.nodes:
                self.start(node)
            self._start_haproxy()
            await self.settled(len(self.nodes))
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for node in self.nodes:
            if node.process is not None:
                node.kill()
        for process in self._others:
            process.kill()
            process.wait(30)
        await self._http.aclose()
        shutil.rmtree(self._home, ignore_errors=True)

    def start(self, node: Node) -> None:
        """Starts a node, for the first time or again after it was killed."""
        node.home.mkdir(exist_ok=True)
        written = node.home / "patroni.yml"
        # JSON is YAML.
        written.write_text(json.dumps(node.configuration(self._etcd_port, self._password)))
        self._give_away(node.home, written)
        node.process = self._run(["patroni", str(written)], node.home / "log")

    async def leader(self) -> Node | None:
        for node in self.nodes:
            if node.process is not None and await self._says(node, "/primary"):
                return node
        return None

    async def settled(self, size: int) -> Node:
        """The leader, once so many nodes are there and one of them is its synchronous follower."""
        async with asyncio.timeout(120):
            while True:
                leader = await self.leader()
                if leader is not None and await self._followers(leader) == (size - 1, True):
                    return leader
                await asyncio.sleep(0.2)

    async def _followers(self, leader: Node) -> tuple[int, bool]:
        """How many follow, and whether Patroni would let one of them take over now."""
        with suppress(httpx.HTTPError, KeyError):
            known = (await self._http.get(f"http://{_at(leader.rest_port)}/cluster")).json()["members"]
            alive = [one for one in known if one.get("state") in ("running", "streaming")]
            followers = [one["role"] for one in alive if one["role"] != "leader"]
            return len(followers), "sync_standby" in followers
        return 0, False

    async def _says(self, node: Node, path: str) -> bool:
        with suppress(httpx.HTTPError):
            return (await self._http.get(f"http://{_at(node.rest_port)}{path}")).status_code == 200
        return False

    def _start_etcd(self) -> None:
        client, peer = f"http://{_at(self._etcd_port)}", f"http://{_at(self._peer_port)}"
        data = self._home / "etcd"
        data.mkdir(mode=0o700)
        self._give_away(data)
        command = ["etcd", "--name", "one", "--data-dir", str(data), "--log-level", "error"]
        command += ["--listen-client-urls", client, "--advertise-client-urls", client]
        command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        command += ["--initial-cluster", f"one={peer}"]
        self._others.append(self._run(command, self._home / "etcd.log"))

    def _start_haproxy(self) -> None:
        configuration = self._home / "haproxy.cfg"
        doors = (("leader", self.port, "/primary"), ("followers", self.read_port, "/replica"))
        configuration.write_text(
            "defaults\n  mode tcp\n  timeout connect 2s\n  timeout client 1h\n  timeout server 1h\n"
            + "".join(self._door(*door) for door in doors)
        )
        self._give_away(configuration)
        self._others.append(
            self._run(["haproxy", "-db", "-f", str(configuration)], self._home / "haproxy.log")
        )

    def _door(self, name: str, port: int, path: str) -> str:
        servers = "".join(
            f"  server {node.name} {_at(node.port)} check port {node.rest_port}\n" for node in self.nodes
        )
        return (
            f"listen {name}\n  bind {_at(port)}\n  option httpchk GET {path}\n  http-check expect status 200\n"
            # Whoever is connected to a former leader is cut off, and finds the new one.
            "  default-server inter 500ms fastinter 200ms fall 2 rise 1 on-marked-down shutdown-sessions\n"
            + servers
        )

    def _give_away(self, *paths: Path) -> None:
        for path in paths:
            if self._account:
                os.chown(path, self._account.pw_uid, self._account.pw_gid)

    def _run(self, command: list[str], log: Path) -> subprocess.Popen[bytes]:
        identity: dict[str, Any] = {}
        if self._account:
            identity = {"user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}
        with log.open("ab") as output:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/", start_new_session=True,
                env={name: value for name, value in os.environ.items() if not name.startswith("PG")}, **identity,
            )  # fmt: skip


def _at(port: int) -> str:
    return f"127.0.0.1:{port}"
