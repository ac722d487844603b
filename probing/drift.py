"""Drift: differences between the stored protocols of tools and the answers that tools give now.

`probing.recheck` makes the calls that give these answers, for the command `atc probe --check`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from jsonschema_rs import ValidationError

from probing.infer import infer, nodes
from probing.keys import document_words
from probing.tool_facts import ToolFacts
from protocols.protocol import ToolProtocol
from protocols.response import one_line
from protocols.schema import type_name
from protocols.validate import BoundedValidator, TooExpensive, validator

Severity = Literal["breaking", "risky", "harmless"]
"""How much a change matters.

- `breaking`: a program that relies on the protocol fails.
- `risky`: such a program fails on some answers, or there is little evidence.
- `harmless`: such a program does not notice the change."""
SEVERITIES = ("breaking", "risky", "harmless")
"""All severities, from the worst to the least."""
_ENOUGH_RECORDS = 3
"""The removal of a field is a `breaking` change if at least this many records lack the field."""
_NO_TOOL_STATUSES = {404, 405, 410, 501}
"""HTTP statuses that mean that the tool does not exist."""
_DENIED_STATUSES = {401, 403, 407}


@dataclass(frozen=True, slots=True)
class DriftChange:
    """One difference between the protocol of a tool and the answers that the tool gives now."""

    tool: str
    path: str
    """The changed field as a response path (`airports[].code`), or "" for the tool as a whole."""
    kind: str
    severity: Severity
    text: str
    """The change in words, with the counts that support it."""


@dataclass(frozen=True, kw_only=True)
class DriftReport:
    """The result of a drift check: the changes it found, and the tools it could not check."""

    tools: int
    """Number of tools that were checked."""
    changes: tuple[DriftChange, ...] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    """The reason for each tool that was not or not completely checked, keyed by the tool's name."""
    calls: int = 0
    """Number of calls that were made."""

    @property
    def breaking(self) -> bool:
        """True if at least one change has the severity `breaking`."""
        return any(change.severity == "breaking" for change in self.changes)


def compare_answers(old: ToolProtocol, facts: ToolFacts) -> list[DriftChange]:
    """Return the differences between a tool's protocol and its new answers, the worst first.

    Args:
        old: the tool's protocol.
        facts: what new calls of the tool showed. Their arguments worked in earlier calls.
    """
    changes = [*_refusal_changes(old, facts), *_response_changes(old, facts)]
    return sorted(
        changes, key=lambda change: (SEVERITIES.index(change.severity), change.path, change.kind)
    )


def _response_changes(old: ToolProtocol, facts: ToolFacts) -> Iterator[DriftChange]:
    """Yield changes in a tool's responses: violated rules of its output schema, new fields."""
    replies = [sample.response for sample in facts.done]
    known = {path for path, _ in nodes(old.output_schema or {})}
    now = dict(nodes(infer(replies, words=document_words(old))))
    judge = BoundedValidator(old.output_schema or {})
    checks = validator(old.output_schema or {})
    errors: dict[tuple[str, str], list[ValidationError]] = {}
    for reply in replies:
        try:
            conforms = judge.is_valid(reply)
        except TooExpensive as problem:
            text = f"an answer is not compared with its schema: {problem}"
            yield DriftChange(old.name, "", "departs", "risky", text)
            continue
        if not conforms:
            for error in checks.iter_errors(reply):
                key = (_error_path(error, known), error.kind.name)
                errors.setdefault(key, []).append(error)
    for (path, keyword), same in errors.items():
        yield _change_of_errors(old, path, keyword, same, is_gone=path not in now)
    yield from _new_fields(old, now.keys() - known)


def _new_fields(old: ToolProtocol, paths: Iterable[str]) -> Iterator[DriftChange]:
    """Yield a change for each of `paths` that is a new field of an object in a response.

    `paths` are all response paths that the old output schema does not contain.
    """
    records = {path for path, node in nodes(old.output_schema or {}) if node.get("properties")}
    for path in dict.fromkeys(paths):
        if path.rpartition(".")[0] in records and not path.endswith(("*", "[]")):
            yield DriftChange(old.name, path, "new_field", "harmless", f"{path!r} is new")


def _error_path(error: ValidationError, known: Collection[str]) -> str:
    """Return the response path of the value that a validation error calls wrong or missing."""
    path = _path_of(error.instance_path, known)
    if error.kind.name == "required":
        return f"{path}.{error.kind.as_dict()['property']}".lstrip(".")
    return path


def _change_of_errors(
    old: ToolProtocol,
    path: str,
    keyword: str,
    errors: Sequence[ValidationError],
    *,
    is_gone: bool,
) -> DriftChange:
    """Return the change in a tool's responses that a group of schema validation errors shows.

    The errors of the group have the same path and schema keyword. `is_gone` is True if no response
    has this path any more.
    """
    if keyword == "required":
        return _missing_field(old, path, errors, is_gone=is_gone)
    shown = repr(path) if path else "the response"
    times = len(errors)
    severity: Severity
    if keyword == "type":
        kinds = {type_name(error.instance) for error in errors}
        wanted = errors[0].kind.as_dict()["types"]
        is_slight = kinds == {"null"} or (kinds <= {"null", "number"} and "integer" in wanted)
        text = (
            f"{shown} is {' or '.join(sorted(kinds))} in {times} places, "
            f"and was {' or '.join(wanted)}"
        )
        severity = "risky" if is_slight else "breaking"
        return DriftChange(old.name, path, keyword, severity, text)
    text = f"{shown} departs in {times} places: {one_line(errors[0].message, limit=120)}"
    severity = "breaking" if keyword in ("anyOf", "oneOf") else "risky"
    return DriftChange(old.name, path, keyword, severity, text)


def _missing_field(
    old: ToolProtocol, path: str, errors: Sequence[ValidationError], *, is_gone: bool
) -> DriftChange:
    """Return the change that a required field is missing in a tool's responses.

    The field is missing in some records, or in all of them if `is_gone` is True.
    """
    times = len(errors)
    seen = old.evidence.observations
    before = f"it was in all of {seen} answers" if seen else "it was always there"
    if not is_gone:
        text = f"{path!r} is missing in {times} records; {before}"
        return DriftChange(old.name, path, "optional", "risky", text)
    severity: Severity = "breaking" if times >= _ENOUGH_RECORDS else "risky"
    text = f"{path!r} is in none of {times} records; {before}"
    return DriftChange(old.name, path, "removed", severity, text)


def _path_of(place: Iterable[str | int], known: Collection[str]) -> str:
    """Return the response path for the keys and indexes that lead to a value in an answer.

    For example, `("films", 0, "title")` gives `films[].title`. A key of a map becomes `*`.
    """
    path = ""
    for step in place:
        if isinstance(step, int):
            path = f"{path}[]"
            continue
        named = f"{path}.{step}".lstrip(".")
        any_key = f"{path}.*".lstrip(".")
        is_map_key = any_key in known and named not in known
        path = any_key if is_map_key else named
    return path


def _refusal_changes(old: ToolProtocol, facts: ToolFacts) -> Iterator[DriftChange]:
    """Yield a change if the tool refused calls that it answered before.

    A call that failed for another reason, such as an unreachable service, shows no change.
    """
    refused = [s for s in facts.samples if s.outcome == "refused"]
    if not refused:
        return
    whole = f"{len(refused)} of {len(facts.samples)} calls that were answered before"
    statuses = {sample.status for sample in refused}
    message = f"“{one_line(refused[0].error, limit=120)}”"
    if statuses <= _DENIED_STATUSES:
        yield DriftChange(
            old.name,
            "",
            "denied",
            "risky",
            f"{whole} are not let in: {message}; look at the credential",
        )
    elif not statuses <= _NO_TOOL_STATUSES:
        yield DriftChange(old.name, "", "refused", "breaking", f"{whole} are refused: {message}")
    elif facts.done or (statuses == {404} and len(refused) == 1 and refused[0].arguments):
        yield DriftChange(
            old.name, "", "not_found", "risky", f"{whole} find nothing any more: {message}"
        )
    else:
        yield DriftChange(
            old.name, "", "gone", "breaking", f"{whole} find nothing any more: {message}"
        )
