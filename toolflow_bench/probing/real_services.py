"""Services of others that run here: how each is started, where it tells of itself, and what one who knows it asks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import HttpBinding, ToolProtocol
from toolflow_bench.probing.real_process import free_port, running

INSTALL = "pip install 'automatic-tool-chain[documents]'"

_KINTO = """[app:main]
use = egg:kinto
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = throw-away
kinto.bucket_create_principals = system.Everyone
kinto.bucket_read_principals = system.Everyone
kinto.bucket_write_principals = system.Everyone
[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = %(http_port)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealService:
    """A service that others wrote.

    `told` are the paths where it tells of itself, hidden from probing; `document` is the one whose document is the
    truth. `records` are arguments that go together, for a census: an operation is called with those that have all of
    its arguments that stand in the path.
    """

    name: str
    command: Callable[[Path, int], Sequence[str]]
    document: str
    told: tuple[str, ...]
    writes: bool
    """Whether all of it may be called: nothing that is kept, or that anybody needs, can be changed."""
    records: Sequence[JsonObject]

    @property
    def missing(self) -> str:
        """Why it cannot be measured here; empty where it can."""
        return "" if find_spec(self.name) else f"the package {self.name!r} is not installed: {INSTALL}"


@contextmanager
def started(service: RealService, folder: Path) -> Iterator[int]:
    """The port on which a fresh instance runs.

    Raises:
        SourceUnavailable: it did not start.
    """
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    with running(service.command(folder, port), port=port, folder=folder):
        yield port


def _kinto(folder: Path, port: int) -> list[str]:
    (folder / "kinto.ini").write_text(_KINTO, encoding="utf-8")
    begin = "import sys; from kinto.__main__ import main; sys.exit(main())"
    return [sys.executable, "-W", "ignore", "-c", begin, "start", "--ini", "kinto.ini", "--port", str(port)]


def _httpbin(_folder: Path, port: int) -> list[str]:
    served = ["--bind", f"127.0.0.1:{port}", "--threads", "8", "httpbin:app"]
    return [sys.executable, "-W", "ignore", "-m", "gunicorn", *served]


def _glances(_folder: Path, port: int) -> list[str]:
    quiet = ["--disable-autodiscover", "--disable-check-update"]
    return [sys.executable, "-W", "ignore", "-m", "glances", "-w", "-p", str(port), "-B", "127.0.0.1", *quiet]


REAL = (
    RealService(
        name="httpbin",
        command=_httpbin,
        document="/spec.json",
        told=("/", "/spec.json", "/apidocs", "/apidocs/*", "/flasgger_static/*", "/static/*"),
        writes=True,
        records=(
            {"value": "SFRUUEJJTiBpcyBhd2Vzb21l", "n": 1, "offset": 0, "codes": "200", "delay": 0, "numbytes": 5}
            | {"etag": "a1", "user": "ann", "passwd": "secret", "qop": "auth", "algorithm": "MD5", "name": "colour"}
            | {"stale_after": "never", "anything": "one", "url": "/get", "duration": 0, "code": 200},
            {"value": "aGVsbG8=", "n": 3, "offset": 1, "codes": "202", "delay": 0.1, "numbytes": 40, "name": "size"}
            | {"etag": "b2", "user": "bob", "passwd": "word", "qop": "auth-int", "algorithm": "SHA-256"}
            | {"stale_after": "1", "anything": "two/parts", "url": "/uuid", "status_code": 307},
            {"value": "60", "n": 2, "offset": 1, "codes": "404", "delay": 0, "numbytes": 1, "anything": "three"}
            | {"etag": "c3", "If-None-Match": "*", "name": "shape"},
            {"n": 4, "offset": 2, "codes": "418", "value": "!", "numbytes": 0, "etag": "d4", "If-Match": "zzz"},
        ),
    ),
    RealService(
        name="kinto",
        command=_kinto,
        document="/v1/__api__",
        told=("/v1/__api__", "/__api__"),
        writes=True,
        records=(
            {"bucket_id": "one", "collection_id": "one", "id": "one", "data": {"title": "first", "pages": 12}}
            | {"requests": [{"method": "GET", "path": "/v1/buckets"}], "principal": "account:ann"},
            {"bucket_id": "two", "collection_id": "two", "id": "two", "permissions": {"read": ["system.Everyone"]}}
            | {"data": {"title": "second", "members": ["ann"]}, "_limit": 1, "_fields": ["id"]},
            {"bucket_id": "three", "collection_id": "three", "id": "three", "data": {}, "_since": 1, "_sort": ["-id"]},
            *(
                {"bucket_id": "one", "collection_id": "one", "id": "one", **rest}
                for rest in (
                    {"data": {f"{kind}:schema": {"type": "object"} for kind in ("collection", "group", "record")}},
                    {"data": {"members": ["ann"], "cache_expires": 60, "schema": {"type": "object"}}},
                    {"permissions": {"read": ["a"], "collection:create": ["a"], "group:create": ["a"]}, "data": {}},
                    {"permissions": {"read": ["a"], "record:create": ["a"]}, "data": {}},
                )
            ),
            {"bucket_id": "none", "collection_id": "none", "id": "none", "data": {"title": 5}, "_limit": -1},
        ),
    ),
    RealService(
        name="glances",
        command=_glances,
        document="/openapi.json",
        told=("/openapi.json", "/docs", "/docs/*", "/redoc", "/", "/static/*"),
        writes=False,
        records=(
            {"plugin": "cpu", "item": "total", "value": 1, "key": "total", "nb": 2, "pid": 1, "section": "cpu"},
            {"plugin": "mem", "item": "percent", "value": 50, "key": "percent", "nb": 1, "pid": 2, "section": "mem"},
            {"plugin": "network", "item": "interface_name", "value": "lo", "key": "lo", "nb": 3},
            {"plugin": "fs", "item": "mnt_point", "value": "/", "key": "size", "nb": 0},
            {"plugin": "load", "item": "min1", "value": 0, "key": "min1", "nb": 2},
            {"plugin": "system", "item": "hostname", "value": "x", "key": "os_name", "nb": 2},
            {"plugin": "processlist", "item": "pid", "value": 1, "key": "name", "nb": 2},
            {"plugin": "nothing", "item": "port", "value": 0, "key": "none", "nb": 1, "section": "nothing"},
            {"section": "cpu", "item": "user_careful"},
        ),
    ),
)

_ORDER = ("PUT", "POST", "PATCH", "HEAD", "GET", "OPTIONS", "DELETE")
"""What makes records goes before what reads them, what takes them away comes last."""


def census_calls(
    service: RealService, protocols: Sequence[ToolProtocol], calls: int
) -> Iterator[tuple[str, dict[str, Json]]]:
    """Calls of the operations, each with one record after the other, at most so many."""
    ordered = sorted(protocols, key=_turn)
    ordered = [one for one in ordered if _method(one) != "DELETE"] + [
        one for one in reversed(ordered) if _method(one) == "DELETE"
    ]
    return islice(_varied(ordered, service), calls)


def _varied(protocols: Sequence[ToolProtocol], service: RealService) -> Iterator[tuple[str, dict[str, Json]]]:
    """All arguments of a record, then only those that are needed. The same read is made again after new writes."""
    made: list[tuple[str, dict[str, Json]]] = []
    for record, sparing in [(record, sparing) for sparing in (False, True) for record in service.records]:
        for protocol in protocols:
            wanted = protocol.required if sparing else protocol.parameters
            arguments = {name: record[name] for name in wanted if name in record}
            if protocol.required <= arguments.keys() and (service.writes or (protocol.name, arguments) not in made):
                made.append((protocol.name, arguments))
                yield protocol.name, arguments


def _turn(protocol: ToolProtocol) -> int:
    method = _method(protocol)
    return _ORDER.index(method) if method in _ORDER else len(_ORDER)


def _method(protocol: ToolProtocol) -> str:
    return protocol.binding.method.upper() if isinstance(protocol.binding, HttpBinding) else ""


def told_paths(service: RealService, protocols: Sequence[ToolProtocol]) -> Mapping[str, Any]:
    """Operations that are themselves where the service tells: they are not probed."""
    return {one.name: one for one in protocols if _path(one) in service.told}


def _path(protocol: ToolProtocol) -> str:
    binding = protocol.binding
    assert isinstance(binding, HttpBinding)
    return "/" + binding.url.split("://", 1)[1].partition("/")[2].rstrip("/")
