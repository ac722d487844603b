"""Recovery of writes whose answer was lost: verify by a read, send again under a key, or stop."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import jsonschema_rs

from protocols.errors import ToolError
from protocols.naming import split_words
from protocols.protocol import HttpBinding
from protocols.schema import Json, JsonObject, iter_parts, resolve, types, wrapper_key
from protocols.toolbox import Tool, Toolbox
from protocols.validate import BoundedValidator
from protocols.verifiers import record_fields
from sandbox.trace import ToolCall

OnUnknown = Literal["stop", "skip"]
"""What to do with a write whose outcome stays unknown: pause the run (`stop`), or report an error
to the program (`skip`)."""

MOST_SENDS = 4  # how often one call is sent at most
_BACKOFF_SECONDS = 0.25
_GATEWAYS = (
    408,
    502,
    503,
    504,
)  # said by what stands before the service, which may still be at work


class UnconfirmedWrite(Exception):
    """A write that may have taken effect. `error` is the last error of the call."""

    def __init__(self, error: ToolError, why: str) -> None:
        super().__init__(why)
        self.error = error
        self.why = why


class WriteResult(NamedTuple):
    """The response to a write. `note` says how it was found if the answer itself was lost."""

    response: Json
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class PendingWrite:
    """One write to be sent."""

    tool: Tool
    arguments: JsonObject  # by original name
    earlier: tuple[ToolCall, float] | None
    """The same call of an earlier execution whose answer was lost, and when it was intended (Unix
    time)."""
    make: Callable[[], Json]
    """Send the call, under the same idempotency key each time."""
    intend: Callable[[Json], None]
    """Record that the call is about to be sent, with what the verifying read shows before it."""
    results: Callable[[], Sequence[Json]]
    """Return the responses of the run's other calls.

    A record that one of them created is not this one's."""

    @property
    def has_idempotency_key(self) -> bool:
        """True if it can be sent again without taking effect twice."""
        binding = self.tool.protocol.binding
        return isinstance(binding, HttpBinding) and bool(binding.idempotency_header)


@dataclass(kw_only=True)
class WriteRecovery:
    """Sends writes so that each takes effect at most once.

    One for each run, for any number of threads.
    """

    tools: Toolbox
    """Contains the reads that verify writes, including those that programs do not see."""
    on_unknown: OnUnknown = "stop"
    settle_seconds: float = 10.0
    """Time after the intent that a service has to finish a write whose answer was lost."""
    wait: Callable[[float], object] = time.sleep
    now: Callable[[], float] = time.time
    _turns: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, sending: PendingWrite) -> WriteResult:
        """Send a write, or find out that it took effect before.

        Raises:
            ToolError: it was refused, or never reached the tool.
            UnconfirmedWrite: it may have taken effect.
        """
        read = None if sending.has_idempotency_key else self.tools.verifier(sending.tool)
        if read is None:
            return self._send(sending, None)
        with self._lock:
            lock = self._turns.setdefault(read.alias, threading.Lock())
        with lock:  # of two writes at once, their read could not tell which one it shows
            return self._send(sending, read)

    def _send(self, sending: PendingWrite, read: Tool | None) -> WriteResult:
        problem: ToolError | None = None
        note: str | None = None
        if sending.earlier is None:
            baseline = _read_baseline(read, sending)
            intended = self.now()
        else:
            call, intended = sending.earlier
            baseline = call.baseline
            problem = ToolError(call.status, call.error or "its answer was lost", outcome="unknown")
        sending.intend(baseline)
        for number in range(MOST_SENDS):
            if problem is not None and sending.has_idempotency_key:
                if number:
                    self.wait(problem.retry_after or _BACKOFF_SECONDS * 2**number)
                note = "Its answer was lost; it was sent again under its idempotency key."
            elif problem is not None:
                shown = self._verify_until_settled(sending, read, problem, baseline, intended)
                if shown.state == "done":
                    return WriteResult(shown.response, f"Its answer was lost; {shown.why}.")
                _require_absent(shown, problem)
                self.wait(problem.retry_after or 0.0)
                note = f"Its answer was lost; {shown.why}, so it was sent again."
                sending.intend(baseline)  # again: this sending may take as long to show up
                intended = self.now()
            try:
                return WriteResult(sending.make(), note)
            except ToolError as error:
                if error.outcome != "unknown":
                    raise
                if sending.has_idempotency_key and _is_second_conflict(problem, error):
                    # If the first sending had been answered, its key would give that answer again.
                    raise _as_refused(error) from error
                problem = error
        assert problem is not None
        raise UnconfirmedWrite(problem, f"none of its {MOST_SENDS} sendings was answered")

    def _verify_until_settled(
        self,
        sending: PendingWrite,
        read: Tool | None,
        problem: ToolError,
        baseline: Json,
        intended: float,
    ) -> Verification:
        """Call the verifying read until it shows the write or the service has had its time."""
        if read is None:
            return Verification("unclear", "nothing shows whether it took effect")
        pause = _BACKOFF_SECONDS
        while True:
            try:
                after = _call_verifier(read, sending)
                shown = verify_write(
                    sending.tool, read, sending.arguments, baseline, after, sending.results()
                )
            except ToolError as error:
                shown = Verification(
                    "unclear", f"{read.alias}, which would show it, failed ({error})"
                )
            answered = (
                problem.status is not None and problem.status not in _GATEWAYS
            )  # so it is at work no more
            left = intended + self.settle_seconds - self.now()
            if shown.state == "done" or left <= 0 or (shown.state == "absent" and answered):
                return shown
            self.wait(min(pause, left))
            pause *= 2


def _call_verifier(read: Tool, sending: PendingWrite) -> Json:
    """Return the response of the verifying read.

    Raises:
        ToolError: the read failed.
    """
    needed = [name for name in read.protocol.parameters if name in read.protocol.required]
    return read.call({name: sending.arguments[name] for name in needed})


def _read_baseline(read: Tool | None, sending: PendingWrite) -> Json:
    """Return the response of the verifying read before a write, in a list, or None."""
    if read is not None:
        with suppress(ToolError):
            return [_call_verifier(read, sending)]
    return None


def _require_absent(shown: Verification, problem: ToolError) -> None:
    """Check that a write that had no answer may be sent again.

    Raises:
        UnconfirmedWrite: it may have taken effect.
        ToolError: the service refused it (409).
    """
    if shown.state == "unclear":
        raise UnconfirmedWrite(problem, shown.why)
    if problem.status == 409:
        raise _as_refused(problem)


def _is_second_conflict(problem: ToolError | None, error: ToolError) -> bool:
    """Return True if two sendings in a row were answered 409."""
    return problem is not None and problem.status == 409 and error.status == 409


def _as_refused(error: ToolError) -> ToolError:
    return ToolError(error.status, error.body, outcome="refused", curl=error.curl)


# ---- whether a read shows that a write took effect: pure, from what it showed before and shows now

_PAGING = split_words(
    "page per_page page_size pagesize limit offset cursor after before start skip top first max "
    "max_results count"
)
"""Parameters by which a read may return only a part, even if they are not given."""


class Verification(NamedTuple):
    """The state of a write, as a read shows it.

    - `done`: it took effect, and `response` is what it would have returned.
    - `absent`: it did not take effect.
    - `unclear`: neither is known.

    `why` is a clause with the reason.
    """

    state: Literal["done", "absent", "unclear"]
    why: str
    response: Json = None


def verify_write(
    tool: Tool,
    read: Tool,
    arguments: JsonObject,
    baseline: Json,
    after: Json,
    results: Sequence[Json],
) -> Verification:
    """Return what the verifying read shows about a write.

    Args:
        tool: the tool that writes.
        read: the read that verifies it.
        arguments: the arguments of the write, by original name.
        baseline: the response before the write in a list, or None.
        after: the response now.
        results: responses of the run's other calls. A record that one of them created is not this
            one's.
    """
    fields = _shown_fields(tool, after)
    named = {
        name: value for name, value in arguments.items() if name in fields and value is not None
    }
    if not named:
        return Verification("unclear", f"{read.alias} shows none of its arguments")
    now = _records_with_fields(after, named)
    before = None if baseline is None else _records_with_fields(baseline[0], named)
    binding = tool.protocol.binding
    method = binding.method if isinstance(binding, HttpBinding) else "POST"
    if method == "DELETE":
        return _verify_removal(tool, read, named, before, now)
    is_whole = _is_whole(read, after)
    if method in ("PUT", "PATCH") and isinstance(binding, HttpBinding):
        # Only the write's own record counts; others may be changed by anybody meanwhile.
        place = {name: value for name, value in named.items() if f"{{{name}}}" in binding.url}
        if place and before is not None:
            before = _matching_records(place, before)
            now = _matching_records(place, now)
        candidates = now
        changed = before is None or bool(new_records(before, now) or new_records(now, before))
        is_whole = is_whole or bool(now)
    elif before is None:
        return Verification("unclear", f"{read.alias} could not be asked before it was sent")
    else:
        candidates = _unexplained(new_records(before, now), results, named)
        changed = bool(candidates)
    if matching := _matching_records(named, candidates):
        return _verify_by_record(tool, read, matching[0], "shows it")
    if changed or not is_whole:
        return Verification("unclear", f"{read.alias} does not tell")
    return Verification("absent", f"{read.alias} does not show it")


def _shown_fields(tool: Tool, response: Json) -> Collection[str]:
    """Return the fields of the records of a write: those of its answer, else of any record."""
    fields = record_fields(tool.protocol)
    if fields:
        return fields
    return {key for record in _records_with_fields(response, ()) for key in record}


def _verify_removal(
    tool: Tool,
    read: Tool,
    named: JsonObject,
    before: Sequence[JsonObject] | None,
    now: Sequence[JsonObject],
) -> Verification:
    """Return what the records before and now show about a DELETE."""
    if _matching_records(named, now):
        return Verification("absent", f"{read.alias} shows it still there")
    if removed := _matching_records(named, before or []):
        return _verify_by_record(tool, read, removed[0], "shows it no more")
    return Verification("unclear", f"{read.alias} does not show it, and did not before")


def _unexplained(
    records: Sequence[JsonObject], results: Sequence[Json], named: Collection[str]
) -> list[JsonObject]:
    """Return the records that no other call of the run returned."""
    explained: set[str] = set()
    for result in results:
        explained.update(map(sorted_json, _records_with_fields(result, named)))
    return [record for record in records if sorted_json(record) not in explained]


def new_records(before: Sequence[JsonObject], now: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the records that are new, as often as they occur more than before."""
    new = Counter(map(sorted_json, now)) - Counter(map(sorted_json, before))
    return [json.loads(text) for text in new.elements()]


def _verify_by_record(tool: Tool, read: Tool, record: JsonObject, how: str) -> Verification:
    """Return the write's answer, made from a record if the output schema allows that."""
    schema = tool.protocol.output_schema
    why = f"{read.alias} {how}"
    if schema is None or types(resolve(schema, schema)) == ("null",):
        return Verification("done", why, record if schema is None else None)
    wrapper = wrapper_key(schema)
    answer = {wrapper: record} if wrapper is not None else record
    with suppress(ValueError, jsonschema_rs.ValidationError):
        if BoundedValidator(schema).is_valid(answer):
            return Verification("done", why, answer)
    return Verification(
        "unclear", f"{read.alias} shows that it took effect, but not what it answered"
    )


def _records_with_fields(value: Json, named: Collection[str]) -> list[JsonObject]:
    """Return the objects anywhere in a value that have all named fields."""
    names = set(named)
    return [
        part for part in iter_parts(value) if isinstance(part, Mapping) and names <= part.keys()
    ]


def _matching_records(named: JsonObject, records: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the records whose fields have these values. `True` does not equal 1."""

    def matches(record: JsonObject) -> bool:
        for name, value in named.items():
            same_kind = isinstance(record[name], bool) == isinstance(value, bool)
            if not same_kind or record[name] != value:
                return False
        return True

    return [record for record in records if matches(record)]


def _is_whole(read: Tool, response: Json) -> bool:
    """Return True if a response is complete.

    Its own fields decide; without any, a read with paging parameters may be incomplete.
    """
    said = []
    if isinstance(response, Mapping):
        longest = max(
            (len(part) for part in response.values() if isinstance(part, list)), default=0
        )
        for key, value in response.items():
            name = key.lower()
            if name in ("pages", "total_pages", "page_count") and isinstance(value, int):
                said.append(value <= 1)
            elif name in ("total", "total_count", "total_results", "count") and isinstance(
                value, int
            ):
                said.append(value <= longest)
            elif (
                "next" in name
                or "cursor" in name
                or name in ("has_more", "hasmore", "more", "truncated")
            ):
                said.append(not value)
    return all(said) if said else not _PAGING & set(map(str.lower, read.protocol.parameters))


sorted_json = json.JSONEncoder(
    check_circular=False, ensure_ascii=False, sort_keys=True, separators=(",", ":")
).encode
"""Encode a value such that equal values give equal texts.

`1`, `1.0`, `true` and `"1"` are different."""
