"""Faults: drawn by seed, seen by the client as what they are, and noted in the log."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")

from protocols.client import Invoker, InvokeSettings
from protocols.errors import ToolError
from protocols.sources import load_tools
from tests.labs.notes_service import notes_app
from toolflow_bench.services import rest
from toolflow_bench.services.faults import Faults, drift_answer
from toolflow_bench.services.serve import RunningService, serve


@pytest.fixture
def service(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RunningService]:
    """The notes service, under the HTTP parser that a test names, of the two that uvicorn can have."""
    parser = getattr(request, "param", "h11")
    import uvicorn.protocols.http.auto

    implementation = pytest.importorskip(f"uvicorn.protocols.http.{parser}_impl")
    protocol = implementation.H11Protocol if parser == "h11" else implementation.HttpToolsProtocol
    monkeypatch.setattr(uvicorn.protocols.http.auto, "AutoHTTPProtocol", protocol)
    with serve(notes_app()) as served:
        yield served


under_both_parsers = pytest.mark.parametrize("service", ["h11", "httptools"], indirect=True)


def raw(service: RunningService, method: str, path: str, body: Any = None) -> bytes:
    """Every byte that comes until the service closes the connection; it is asked to close it after the answer."""
    data = b"" if body is None else json.dumps(body).encode()
    with socket.create_connection(
        ("127.0.0.1", int(service.url.rsplit(":", 1)[1])), timeout=10
    ) as connection:
        connection.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(data)}\r\n\r\n".encode()
            + data
        )
        pieces = []
        while piece := connection.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def parts(answer: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    return int(first.split()[1]), headers, body


def kinds(service: RunningService) -> list[str]:
    return [record.fault for record in service.app.state.requests]


def stored(service: RunningService) -> list[str]:
    return [note["text"] for note in service.app.state.run.all("notes")]


def test_429_names_a_time_and_does_nothing(service: RunningService) -> None:
    service.app.state.control.set_faults(Faults(rate_429=1, retry_after_seconds=3))
    status, headers, body = parts(raw(service, "POST", "/notes", {"text": "milk"}))
    assert (status, headers["retry-after"]) == (429, "3")
    assert json.loads(body) == {"detail": "too many requests; try again in 3 s."}
    assert stored(service) == []
    assert kinds(service) == ["429"]


def test_a_connection_dropped_before_has_no_effect(service: RunningService) -> None:
    service.app.state.control.set_faults(Faults(rate_drop=1))
    assert raw(service, "POST", "/notes", {"text": "milk"}) == b""
    assert stored(service) == []
    [record] = service.app.state.requests
    assert (record.fault, record.status, record.wrote, record.arguments) == (
        "drop",
        None,
        False,
        {"text": "milk", "stars": 0},
    )


@under_both_parsers
def test_a_connection_dropped_after_has_its_effect(service: RunningService) -> None:
    service.app.state.control.set_faults(Faults(rate_drop_after=1))
    assert raw(service, "POST", "/notes", {"text": "milk"}) == b""
    assert stored(service) == ["milk"]
    [record] = service.app.state.requests
    assert (record.fault, record.status, record.wrote) == ("drop_after", None, True)


@under_both_parsers
def test_a_truncated_answer_ends_before_its_length(service: RunningService) -> None:
    whole = parts(raw(service, "POST", "/notes", {"text": "milk"}))[2]
    for seed in range(12):
        service.app.state.control.reset()
        service.app.state.control.set_faults(Faults(seed=seed, rate_truncated=1))
        status, headers, cut = parts(raw(service, "POST", "/notes", {"text": "milk"}))
        assert (status, int(headers["content-length"])) == (201, len(whole))
        assert stored(service) == ["milk"]
        assert 0 < len(cut) < len(whole)
        assert whole.startswith(cut)


def test_a_seed_repeats_a_run(service: RunningService) -> None:
    faults = Faults(seed=5, rate_429=0.2, rate_500=0.2, rate_drop=0.2, rate_truncated=0.2)
    service.app.state.control.set_faults(faults)

    def run() -> list[tuple[str, int | None]]:
        service.app.state.control.reset()
        for number in range(20):
            raw(service, "POST", "/notes", {"text": f"note {number}"})
        return [(record.fault, record.status) for record in service.app.state.requests]

    first = run()
    assert len(set(first)) >= 4
    assert run() == first
    service.app.state.control.set_faults(replace(faults, seed=6))
    assert run() != first


def test_a_request_that_outlives_its_run_writes_nothing(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def reset_meanwhile(_seconds: float) -> None:
        service.app.state.control.reset()

    monkeypatch.setattr(rest, "sleep", reset_meanwhile)
    service.app.state.control.set_faults(Faults(latency_ms=1))
    assert raw(service, "POST", "/notes", {"text": "milk"}) == b""
    assert stored(service) == []
    assert kinds(service) == ["stale"]


def test_tools_report_what_faults_leave_known(service: RunningService) -> None:
    """A lost write is unknown, never done or refused; with a key it can be made sure of."""
    with Invoker(InvokeSettings(retries=0)) as invoker:
        add = load_tools(service.document_url, invoker=invoker)["add_note"].call
        add({"text": "warm"})  # the connection is kept alive
        service.app.state.control.set_faults(Faults(rate_drop_after=1))
        with pytest.raises(ToolError) as lost:
            add({"text": "milk"})
        assert (lost.value.outcome, lost.value.status) == ("unknown", None)
        assert stored(service) == ["warm", "milk"]
        with pytest.raises(ToolError):
            add({"text": "bread"}, idempotency_key="k")
        service.app.state.control.set_faults(None)
        assert add({"text": "bread"}, idempotency_key="k")["text"] == "bread"
    assert stored(service) == ["warm", "milk", "bread"]


def test_an_operation_drifts_alike_everywhere() -> None:
    page = {"films": [{"film_id": "a", "year": 1999}, {"film_id": "b", "year": 2001}], "total": 2}
    for seed in range(30):
        changed, change = drift_answer(page, operation="list_films", seed=seed)
        assert changed != page
        assert change
        if change == "renamed films.film_id to filmId":
            assert changed == {
                "films": [{"filmId": "a", "year": 1999}, {"filmId": "b", "year": 2001}],
                "total": 2,
            }
        other = {**page, "films": page["films"][:1]}
        assert drift_answer(other, operation="list_films", seed=seed)[1] == change
    assert page["films"][0] == {"film_id": "a", "year": 1999}
    assert len({drift_answer(page, operation="list_films", seed=seed)[1] for seed in range(30)}) > 8
    assert drift_answer({}, operation="x", seed=0) == ({}, "")
