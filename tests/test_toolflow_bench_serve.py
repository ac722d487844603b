"""Serving: it answers at once, ends cleanly, and says why it cannot start."""

from __future__ import annotations

import socket
import sys
import threading

import pytest
import requests

pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")

from starlette.applications import Starlette

from protocols.errors import SourceUnavailable
from toolflow_bench.services.operation import Arguments, Operation, Parameter
from toolflow_bench.services.rest import build_app
from toolflow_bench.services.serve import serve

CLOSED: list[str] = []


def greet(context: str, arguments: Arguments) -> dict[str, str]:
    return {"text": f"{context} {arguments['name']}"}


def app() -> Starlette:
    name = Parameter(name="name", schema={"type": "string", "default": "world"}, description="Whom.", required=False)
    operation = Operation(
        id="get_greeting",
        path="/greeting",
        description="A greeting.",
        returns="Text",
        handler=greet,
        parameters=(name,),
    )
    text = {"type": "object", "properties": {"text": {"type": "string"}}}
    info = {"title": "Greetings", "version": "1"}
    return build_app([operation], context="hello", info=info, schemas={"Text": text}, close=lambda: CLOSED.append("x"))


def test_it_answers_until_it_is_closed() -> None:
    CLOSED.clear()
    with serve(app()) as service, requests.Session() as session:
        assert session.get(service.url + "/greeting", timeout=10).json() == {"text": "hello world"}
        assert session.get(service.url + "/greeting?name=Ada", timeout=10).json() == {"text": "hello Ada"}
        document = session.get(service.document_url, timeout=10).json()
        assert document["servers"] == [{"url": service.url}]
        port = int(service.url.rsplit(":", 1)[1])
    assert CLOSED == ["x"]
    assert not [thread for thread in threading.enumerate() if thread.name == f"serve {service.url}"]
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    service.close()  # a second time does nothing
    assert CLOSED == ["x"]


def test_two_services_run_side_by_side() -> None:
    with serve(app()) as one, serve(app()) as other:
        assert one.url != other.url
        for service in (one, other):
            assert requests.get(service.url + "/greeting", timeout=10).ok


def test_a_port_that_is_taken_is_named() -> None:
    with serve(app()) as service:
        port = int(service.url.rsplit(":", 1)[1])
        with pytest.raises(SourceUnavailable, match=f"port {port} on 127.0.0.1 cannot be used"):
            serve(app(), port=port)


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    made = app()
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(SourceUnavailable, match=r"'uvicorn'.*automatic-tool-chain\[toolflow\]"):
        serve(made)


def test_an_application_that_fails_to_start_is_reported() -> None:
    def lifespan(_app: Starlette) -> None:
        raise RuntimeError("no")

    with pytest.raises(SourceUnavailable, match="did not start"):
        serve(Starlette(lifespan=lifespan))  # type: ignore[arg-type]
