"""A recording as one JSON document: written, hashed, read, and refused in one sentence where it cannot be read."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import jsonschema_rs

from atc.recording import CALL_FIELDS, InvalidRecording, Recording
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import dump, load
from protocols.schema import first_error
from sandbox.contract import shorten
from sandbox.limits import Limits
from sandbox.trace import Failure, Frame, Pins, ToolCall, Trace

FORMAT = 1
_FORMAT = "atc recording "
_OF_AN_ERROR = ("error", "status", "outcome")
_WIDENING = ("tool_calls", "result_bytes")
"""Limits that may be wider than ours: what is in the file bounds them already."""


def to_document(recording: Recording) -> dict[str, Any]:
    """The recording as plain JSON. `from_document` reads it."""
    trace = recording.trace
    failure = trace.failure
    document: dict[str, Any] = {
        "format": f"{_FORMAT}{FORMAT}",
        "run": recording.run,
        "task": recording.task,
        "status": recording.status,
        "answer": recording.answer,
        "program": recording.program,
        "calls": [
            {"tool": call.tool, "arguments": dict(call.arguments), "line": call.line}
            | ({"result": call.result} if call.error is None else {name: getattr(call, name) for name in _OF_AN_ERROR})
            for call in trace.calls
        ],
        "end": {
            "stdout": trace.stdout,
            "value": trace.value,
            # Columns, and where the failing values came from, are of no concern to a replay.
            "failure": failure
            and {name: getattr(failure, name) for name in ("kind", "type", "message", "call")}
            | {"frames": [{"line": frame.line, "function": frame.function} for frame in failure.frames]},
        },
        "pins": asdict(trace.pins),
        "sandbox": {"backend": trace.backend, "policy": recording.policy, "limits": asdict(recording.limits)},
        "tools": {alias: dump(protocol) for alias, protocol in recording.tools.items()},
        "versions": dict(recording.versions),
        "secrets": list(recording.secrets),
    }
    return document | {"sha256": _hash(document)}


def parse(text: str, *, where: str) -> Recording:
    """Read a run file's text; `where` is its name in messages. Raises `InvalidRecording` as `from_document` does."""
    try:
        return from_document(json.loads(text), where=where)
    except ValueError as error:
        raise InvalidRecording(
            where, f"it is not JSON ({error}); it may have been cut off. Export the run anew."
        ) from error
    except RecursionError:
        raise InvalidRecording(where, "it is nested too deeply to be a recording; export the run anew.") from None


def from_document(document: Json, *, where: str) -> Recording:
    """Read one JSON document; `where` names it in messages.

    Raises:
        InvalidRecording: it is none, or of a format that this version does not know, or a part is missing or wrong.
        InvalidProtocol: one of its tools is.
    """
    _check(document, where)
    end, sandbox, failure = document["end"], document["sandbox"], document["end"]["failure"]
    ours, recorded = asdict(Limits()), sandbox["limits"]
    # None wider than ours: a file does not decide what a program may take of this machine.
    limits = {name: min(recorded[name], ours[name]) for name in recorded.keys() & ours.keys()}
    limits |= {name: recorded[name] for name in _WIDENING if name in recorded}
    trace = Trace(
        calls=tuple(
            ToolCall(index=index, **{name: call[name] for name in CALL_FIELDS if name in call})
            for index, call in enumerate(document["calls"])
        ),
        stdout=end["stdout"],
        value=end["value"],
        failure=failure and Failure(**{**failure, "frames": tuple(Frame(**frame) for frame in failure["frames"])}),
        backend=sandbox["backend"],
        pins=Pins(**document["pins"]),
    )
    return Recording(
        **{name: document[name] for name in ("run", "task", "status", "answer", "program", "versions")},
        tools={alias: load(tool, where=f"{where}: tool {alias!r}") for alias, tool in document["tools"].items()},
        trace=trace,
        limits=Limits(**limits),
        policy=sandbox["policy"],
        secrets=tuple(document["secrets"]),
        edited=document["sha256"] != _hash({name: part for name, part in document.items() if name != "sha256"}),
    )


def _check(document: Json, where: str) -> None:
    found = re.fullmatch(rf"{_FORMAT}(\d{{1,6}})", str(document.get("format"))) if isinstance(document, dict) else None
    if found is None:
        raise InvalidRecording(where, "it is no recording of a run; 'atc runs export RUN -o FILE' writes one.")
    if int(found[1]) != FORMAT:
        raise InvalidRecording(where, f"its format is {found[1]}, and this atc reads {FORMAT}; export the run anew.")
    error = first_error(_VALIDATOR, document)
    if error is not None:
        path = ".".join(str(part) for part in error.instance_path)
        raise InvalidRecording(where, f"{path or 'the document'}: {shorten(error.message, 200)}; export the run anew.")
    try:
        ZoneInfo(document["pins"]["timezone"])
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidRecording(
            where, f"pins.timezone: no zone {document['pins']['timezone']!r} is known here."
        ) from None


def _hash(document: JsonObject) -> str:
    """SHA-256 of the document as compact JSON. The order of keys counts: a program sees it."""
    return hashlib.sha256(json.dumps(document, separators=(",", ":")).encode("ascii")).hexdigest()


_VALIDATOR = jsonschema_rs.validator_for(
    json.loads(files("atc.recording").joinpath("schema.json").read_text(encoding="utf-8"))
)
