"""What the store gives back: runs, their calls and their exchanges with the model. All frozen."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from atc.types import Attempt, Fault, Finding, Program, Usage
from protocols.ask import Message
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from sandbox.trace import Pins, ToolCall, Trace, call_from_json, trace_from_json

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # without the characters that are read for one another


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One line of `atc runs list`. Times are Unix seconds; `calls` were really made, over all attempts."""

    id: str
    task: str
    created: float
    ended: float | None
    status: str
    """running, solved, failed, paused, error (our side failed) or interrupted (its process is gone)."""
    model: str
    strategy: str
    sandbox: str
    answer: str | None
    error: str | None
    attempts: int
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCall:
    """One call as the journal was told of it; not `complete`: sent perhaps, and nobody knows how it came out."""

    execution: int
    call: ToolCall
    complete: bool
    intended: float | None = None
    """When its intent was recorded, in Unix seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One prompt and its reply; `reply` is None when none came."""

    purpose: str
    messages: tuple[Message, ...]
    reply: str | None = None
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run with everything that is known of it. `calls` has those of unfinished attempts too."""

    summary: RunSummary
    config: Mapping[str, Json]
    tools: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    calls: tuple[StoredCall, ...]
    exchanges: tuple[Exchange, ...]
    usage: Usage = field(default_factory=Usage)
    pins: Pins | None = None
    """What every execution pinned; None in runs of older versions."""
    protocols: Mapping[str, ToolProtocol] = field(default_factory=dict)
    """By alias: the tools that its programs named, as they were then. None in runs of older versions."""
    notes: tuple[str, ...] = ()
    """What was done otherwise than the settings ask for, see `Solution.notes`."""
    identities: Mapping[str, str] = field(default_factory=dict)
    """Of all its tools, by alias, when it began: see `Tool.identity`. None in runs of older versions."""


def new_run_id(now: float) -> str:
    """An id that sorts by time (UTC) and can be read aloud: `20261121-010203-k3f9`."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return f"{stamp}-{''.join(secrets.choice(_ALPHABET) for _ in range(4))}"


def process_mark(pid: int) -> str | None:
    """A text that stands for this one process (boot, pid, start time), or None when there is no such process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None if Path("/proc/self/stat").exists() else _mark_without_proc(pid)
    except OSError:
        return _mark_without_proc(pid)
    fields_after_name = stat.rpartition(")")[2].split()
    return None if fields_after_name[0] == "Z" else f"{boot}:{pid}:{fields_after_name[19]}"


def _mark_without_proc(pid: int) -> str | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # it exists, as somebody else's
    return f"pid:{pid}"


def summary_of(row: sqlite3.Row) -> RunSummary:
    """The run of one row of the store's `SUMMARY` query."""
    status = row["status"]
    if status == "running" and process_mark(row["pid"]) != row["process"]:
        status = "interrupted"
    names = ("id", "task", "created", "ended", "model", "strategy", "sandbox", "answer", "error", "attempts", "calls")
    return RunSummary(status=status, **{name: row[name] for name in names})


def attempt_of(row: sqlite3.Row, calls: tuple[ToolCall, ...]) -> Attempt:
    """The attempt of a row and the calls of its execution."""
    trace: Trace | None = None
    if row["trace"] is not None:
        trace = replace(trace_from_json(json.loads(row["trace"])), calls=calls)
    fault = json.loads(row["fault"]) if row["fault"] else None
    return Attempt(
        program=Program(row["program"]),
        findings=_findings(row["findings"]),
        trace=trace,
        fault=fault and _fault(fault),
        doubts=tuple(json.loads(row["doubts"])),
        mended=_findings(row["mended"]),
        round=row["round"],
    )


def _fault(document: Mapping[str, Any]) -> Fault:
    lists = {name: tuple(document.get(name, ())) for name in ("evidence", "candidates")}
    return Fault(**{**document, **lists})


def _findings(text: str) -> tuple[Finding, ...]:
    return tuple(Finding(**{**finding, "keys": tuple(finding["keys"])}) for finding in json.loads(text))


def call_of(row: sqlite3.Row) -> StoredCall:
    """The call of a row."""
    document: dict[str, Any] = {
        name: row[name] for name in ("tool", "line", "error", "status", "outcome", "curl", "note")
    }
    document |= {"index": row["number"], "reused": bool(row["reused"])}
    document |= {"started": row["started"], "seconds": row["seconds"]}
    document |= {name: json.loads(row[name]) for name in ("arguments", "result", "drift", "baseline")}
    complete = row["completed_at"] is not None
    call = call_from_json(document)
    return StoredCall(execution=row["execution"], call=call, complete=complete, intended=row["intent_at"])


def exchanges_of(rows: Iterable[sqlite3.Row]) -> Iterator[Exchange]:
    """The exchanges of rows in their order. A prompt may be stored as an earlier one with another last turn."""
    prompts: dict[int, list[Any]] = {}
    for row in rows:
        found = json.loads(row["messages"])
        if isinstance(found, dict):
            found = [*prompts[found["like"]][:-1], found["last"]]
        prompts[row["number"]] = found
        yield _exchange(row, tuple(Message(**message) for message in found))


def _exchange(row: sqlite3.Row, messages: tuple[Message, ...]) -> Exchange:
    return Exchange(
        purpose=row["purpose"],
        messages=messages,
        reply=row["reply"],
        model=row["model"],
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        seconds=row["seconds"],
        cached_tokens=row["cached_tokens"],
    )


def used_so_far(exchanges: Sequence[Exchange]) -> Usage:
    """What a run that did not end has used so far."""
    replied = [exchange for exchange in exchanges if exchange.reply is not None]
    return Usage(
        model_calls=len(replied),
        input_tokens=sum(exchange.input_tokens for exchange in replied),
        output_tokens=sum(exchange.output_tokens for exchange in replied),
        model_seconds=sum(exchange.seconds for exchange in replied),
        cached_tokens=sum(exchange.cached_tokens for exchange in replied),
    )
