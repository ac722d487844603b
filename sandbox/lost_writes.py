"""What becomes of a write whose answer was lost: looked up by a read, sent again under its key, or left to a person."""

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
"""What to do with a write whose outcome no fact settles: end the run as paused, or tell the program that it failed."""

MOST_SENDS = 4  # how often one call is sent at most
_BACKOFF_SECONDS = 0.25
_GATEWAYS = (
    408,
    502,
    503,
    504,
)  # said by what stands before the service, which may still be at work


class UnconfirmedWrite(Exception):
    """A write may or may not have taken effect, and no fact tells. `error` is what was said last."""

    def __init__(self, error: ToolError, why: str) -> None:
        super().__init__(why)
        self.error = error
        self.why = why


class WriteResult(NamedTuple):
    """A call that was answered, or whose effect was found; `note` says how where its own answer was lost."""

    response: Json
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class PendingWrite:
    """One write on its way: what is known of it, and how it is sent.

    `earlier` is the same call of an earlier execution whose answer was lost, and when it was intended (Unix time).
    `make` sends it once more, under the same key each time. `intend` records that it is about to be sent, with what
    the verifying read shows before. `results` are those of the run's other calls: a record that one of them made is
    not this one's.
    """

    tool: Tool
    arguments: JsonObject  # by original name
    earlier: tuple[ToolCall, float] | None
    make: Callable[[], Json]
    intend: Callable[[Json], None]
    results: Callable[[], Sequence[Json]]

    @property
    def has_idempotency_key(self) -> bool:
        """Whether it can be sent again without being done twice."""
        binding = self.tool.protocol.binding
        return isinstance(binding, HttpBinding) and bool(binding.idempotency_header)


@dataclass(kw_only=True)
class WriteRecovery:
    """Sends writes at most once in effect. One a run, for any number of threads.

    `tools` holds the reads that verify writes, those that no program sees included. `settle_seconds` is how long a
    write whose answer was lost is given to show up, from when it was intended: a service may still be at work.
    """

    tools: Toolbox
    on_unknown: OnUnknown = "stop"
    settle_seconds: float = 10.0
    wait: Callable[[float], object] = time.sleep
    now: Callable[[], float] = time.time
    _turns: dict[str, threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, sending: PendingWrite) -> WriteResult:
        """Send a write, or find out that it was done before.

        Raises:
            ToolError: it was refused, or never reached the tool.
            StillUnknown: it may have taken effect, and no fact tells whether.
        """
        read = None if sending.has_idempotency_key else self.tools.verifier(sending.tool)
        if read is None:
            return self._send(sending, None)
        with self._lock:
            lock = self._turns.setdefault(read.alias, threading.Lock())
        with lock:  # of two writes at once, their read could not tell which one it shows
            return self._send(sending, read)

    def _send(self, sending: PendingWrite, read: Tool | None) -> WriteResult:
        keyed = sending.has_idempotency_key
        problem: ToolError | None = None
        note: str | None = None
        if sending.earlier is None:
            baseline: Json = None
            with suppress(ToolError):
                baseline = (
                    None if read is None else [_call_verifier(read, sending)]
                )  # in a box, to be told from none
            intended = self.now()
        else:
            call, intended = sending.earlier
            baseline = call.baseline
            problem = ToolError(call.status, call.error or "its answer was lost", outcome="unknown")
        sending.intend(baseline)
        for number in range(MOST_SENDS):
            if problem is not None and keyed:
                if number:
                    self.wait(problem.retry_after or _BACKOFF_SECONDS * 2**number)
                note = "Its answer was lost; it was sent again under its idempotency key."
            elif problem is not None:
                shown = self._verify_until_settled(sending, read, problem, baseline, intended)
                if shown.state == "done":
                    return WriteResult(shown.response, f"Its answer was lost; {shown.why}.")
                if shown.state == "unclear":
                    raise UnconfirmedWrite(problem, shown.why)
                if problem.status == 409:
                    raise _as_refused(problem)
                self.wait(problem.retry_after or 0.0)
                note = f"Its answer was lost; {shown.why}, so it was sent again."
                sending.intend(baseline)  # anew: what is sent now may take as long again to show up
                intended = self.now()
            try:
                return WriteResult(sending.make(), note)
            except ToolError as error:
                if error.outcome != "unknown":
                    raise
                if keyed and error.status == 409 and problem is not None and problem.status == 409:
                    # Under its key the first answer would have been given again, had there been one.
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
        """What the verifying read shows, looked at until the service has had its time."""
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
    """What the verifying read answers. Raises `ToolError` where it fails."""
    needed = [name for name in read.protocol.parameters if name in read.protocol.required]
    return read.call({name: sending.arguments[name] for name in needed})


def _as_refused(error: ToolError) -> ToolError:
    return ToolError(error.status, error.body, outcome="refused", curl=error.curl)


# ---- whether a read shows that a write took effect: pure, from what it showed before and shows now

_PAGING = split_words(
    "page per_page page_size pagesize limit offset cursor after before start skip top first max max_results count"
)
"""Parameters of a read that may give a part of what there is, even where nobody gave them."""


class Verification(NamedTuple):
    """*done*: it took effect, and `response` is what it would have answered. *absent*: it did not. *unclear*: neither
    is known. `why` is a clause that says so.
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
    """What became of a write of `tool` with `arguments` (original names), from what its verifying read shows.

    `baseline` holds the response before it in a list, None where there is none; `after` is the response now. `results`
    are responses of the run's other calls: a record that one of them made is not this one's.
    """
    # The arguments that a record shows: those that the write's own answer has, or where it is not known, any.
    fields = record_fields(tool.protocol) or {
        key for record in _records_with_fields(after, ()) for key in record
    }
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
        if _matching_records(named, now):
            return Verification("absent", f"{read.alias} shows it still there")
        if was := _matching_records(named, before or []):
            return _verify_by_record(tool, read, was[0], "shows it no more")
        return Verification("unclear", f"{read.alias} does not show it, and did not before")
    if updates := method in ("PUT", "PATCH") and isinstance(binding, HttpBinding):
        place = {name: value for name, value in named.items() if f"{{{name}}}" in binding.url}
        if place and before is not None:
            # Its own record tells; the others may be changed meanwhile by whoever wants.
            before = _matching_records(place, before)
            now = _matching_records(place, now)
        candidates = now
        changed = before is None or bool(new_records(before, now) or new_records(now, before))
    elif before is None:
        return Verification("unclear", f"{read.alias} could not be asked before it was sent")
    else:
        explained = {
            sorted_json(record)
            for result in results
            for record in _records_with_fields(result, named)
        }
        candidates = [
            record for record in new_records(before, now) if sorted_json(record) not in explained
        ]
        changed = bool(candidates)
    if found := _matching_records(named, candidates):
        return _verify_by_record(tool, read, found[0], "shows it")
    if changed or not (_is_whole(read, after) or (updates and now)):
        return Verification("unclear", f"{read.alias} does not tell")
    return Verification("absent", f"{read.alias} does not show it")


def new_records(before: Sequence[JsonObject], now: Sequence[JsonObject]) -> list[JsonObject]:
    """The records that are there now and were not before, as often as they are."""
    new = Counter(map(sorted_json, now)) - Counter(map(sorted_json, before))
    return [json.loads(text) for text in new.elements()]


def _verify_by_record(tool: Tool, read: Tool, record: JsonObject, how: str) -> Verification:
    """The write's answer made of a record, where its protocol allows it to be that."""
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
    """The objects anywhere in `value` that have a field for each of the arguments."""
    return [
        part
        for part in iter_parts(value)
        if isinstance(part, Mapping) and all(name in part for name in named)
    ]


def _matching_records(named: JsonObject, records: Sequence[JsonObject]) -> list[JsonObject]:
    """The records whose fields have these values; `True` is not 1."""

    def has(record: JsonObject, name: str, value: Json) -> bool:
        return bool(record[name] == value) and isinstance(record[name], bool) == isinstance(
            value, bool
        )

    return [record for record in records if all(has(record, *field) for field in named.items())]


def _is_whole(read: Tool, response: Json) -> bool:
    """Whether a response holds all that there is: as it says itself, else not where the read gives pages."""
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
"""One text for equal values; `1`, `1.0`, `true` and `"1"` are all different."""
