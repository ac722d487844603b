"""Answering over HTTP: idempotency keys, what the document promises, the request log, and steering from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests

pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")

from tests.labs.notes_service import notes_app
from tests.labs.patience import PATIENCE
from toolflow_bench.services.serve import RunningService, serve


@pytest.fixture
def service() -> Iterator[RunningService]:
    with serve(notes_app()) as served:
        yield served


def send(
    service: RunningService, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, Any, Any]:
    """Status, body and headers of one request."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = requests.request(
        method, service.url + path, data=data, headers=given, timeout=PATIENCE
    )
    return answer.status_code, answer.json() if answer.content else None, answer.headers


def texts(service: RunningService) -> list[str]:
    return [note["text"] for note in send(service, "GET", "/notes")[1]["notes"]]


def test_a_handlers_refusal_is_an_answer(service: RunningService) -> None:
    note = send(service, "POST", "/notes", {"text": "milk"})[1]
    assert send(service, "POST", "/notes", {"text": "milk"}, idempotency_key="k")[0] == 409
    send(service, "DELETE", f"/notes/{note['note_id']}")
    assert send(service, "POST", "/notes", {"text": "milk"}, idempotency_key="k")[0] == 409
    assert texts(service) == []


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[" * 100_000,
        b"\xff",
        b'{"text": "a", "stars": NaN}',
        b'{"text": "a", "stars": 1' + b"0" * 400 + b"}",
        b'{"text": "a", "stars": true}',
        b'{"text": "\\ud800"}',
    ],
    ids=lambda body: body[:24].decode(errors="replace"),
)
def test_unusable_bodies_are_refused_in_json(service: RunningService, body: bytes) -> None:
    status, answer, _ = send(service, "POST", "/notes", body)
    assert (status, list(answer)) == (422, ["detail"])
    assert texts(service) == []


def test_outside_harnesses_reset_without_a_record(service: RunningService) -> None:
    send(service, "POST", "/notes", {"text": "milk"}, idempotency_key="k")
    state = send(service, "GET", "/bench/state")[1]
    assert state == {"state": {"notes": [{"text": "milk", "stars": 0}]}}
    [record] = send(service, "GET", "/bench/log")[1]["requests"]
    assert (record["operation"], record["arguments"]["text"], record["wrote"]) == (
        "add_note",
        "milk",
        True,
    )
    assert send(service, "POST", "/bench/reset")[:2] == (200, {"state": {}})
    assert texts(service) == []
    assert len(service.app.state.requests) == 1
    send(service, "POST", "/notes", {"text": "milk"}, idempotency_key="k")
    assert texts(service) == ["milk"]  # the key was forgotten, too
    assert send(service, "POST", "/bench/reset")[0] == 200
    assert not service.app.state.requests
    assert not [
        path for path in send(service, "GET", "/openapi.json")[1]["paths"] if "bench" in path
    ]


def test_a_path_argument_may_hold_a_slash(service: RunningService) -> None:
    assert send(service, "DELETE", "/notes/a%2Fb")[1] == {"detail": "there is no note of this id."}
    assert send(service, "DELETE", "/notes/a/b")[1] == {"detail": "Not Found"}
    assert send(service, "DELETE", "/notes/")[:2] == (404, {"detail": "Not Found"})
