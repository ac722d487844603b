"""The outcomes besides success that a tool was seen to have: status, when, and the shape of the body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from probing.document.secrets import Telling
from probing.facts import ToolFacts
from probing.hint import Hint
from probing.infer import Inference
from probing.sample import Sample
from protocols.jsontypes import Json
from protocols.protocol import ErrorOutcome
from protocols.reply import one_line, parse

MOST_CLAUSES, MOST_SENTENCES = 4, 3
_LONGEST_WORDS = 160
_VALUES = frozenset({"enum", "const", "examples", "default", "pattern", "minLength", "maxLength"})
_WRONG = {
    "missing": "is missing", "enum": "is none of its values", "range": "is out of range",
    "length": "is too short or too long", "pattern": "is not of its form", "not_found": "names nothing that there is",
    "refused": "is not accepted",
}  # fmt: skip


def outcomes(facts: ToolFacts, telling: Telling) -> tuple[ErrorOutcome, ...]:
    """Declared outcomes first, in their order, then those seen by status; what was declared is kept."""
    seen: dict[str, list[Sample]] = {}
    for sample in facts.samples:
        status = status_of(sample)
        if status is not None:
            seen.setdefault(status, []).append(sample)
    declared = {outcome.status: outcome for outcome in facts.protocol.errors}
    statuses = [*declared, *sorted(status for status in seen if status not in declared)]
    return tuple(_outcome(declared.get(status), status, seen.get(status, ()), facts, telling) for status in statuses)


def status_of(sample: Sample) -> str | None:
    """Under which status a sample's outcome is documented; `default` for a refusal without one (an exception).

    `None` for a success, and for what says nothing of the tool: no answer, an answer that could not be read.
    """
    if sample.done or sample.outcome == "not_run":
        return None
    if sample.status is None:
        return "default" if sample.outcome == "refused" else None
    return str(sample.status) if sample.status >= 300 else None


def _outcome(
    known: ErrorOutcome | None, status: str, samples: Sequence[Sample], facts: ToolFacts, telling: Telling
) -> ErrorOutcome:
    if not samples:
        assert known is not None, "a status is declared or seen"
        return known
    declared = known.schema if known else None
    inference = Inference(known=declared)
    bodies = [body for sample in samples for body in _body(sample)]
    for body in bodies:
        inference.add(body)
    schema = _open(inference.schema()) if bodies else None
    return ErrorOutcome(
        status=status,
        description=(known.description if known else "") or _when(status, samples, facts, telling),
        schema=telling.schema(schema, declared=declared) if schema is not None and declared is None else declared,
    )


def _body(sample: Sample) -> Iterator[Json]:
    """The JSON body of a refusal; an empty one and a text have no shape."""
    try:
        body = parse(sample.answer or "")
    except ValueError:
        return
    if isinstance(body, dict | list):
        yield body


def _open(schema: Json) -> Any:
    """A schema without what holds only for the few messages that were seen."""
    if isinstance(schema, list):
        return [_open(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {name: _open(part) for name, part in value.items()} if key == "properties" else _open(value)
        for key, value in schema.items()
        if key not in _VALUES
    }


def _when(status: str, samples: Sequence[Sample], facts: ToolFacts, telling: Telling) -> str:
    """What was wrong with the arguments, and what replies said of it in their own words, each sentence once."""
    clauses = list(dict.fromkeys(clause for sample in samples for clause in _clauses(sample, facts)))
    parts = []
    if clauses:
        more = f", or {len(clauses) - MOST_CLAUSES} more" if len(clauses) > MOST_CLAUSES else ""
        parts.append(telling.text(f"When {', or '.join(clauses[:MOST_CLAUSES])}{more}."))
    words = (telling.words(sample.error, sample.arguments) for sample in samples if sample.error)
    said = list(dict.fromkeys(one_line(text, limit=_LONGEST_WORDS).rstrip(".") for text in words))[:MOST_SENTENCES]
    if said:
        verb = "It raises" if status == "default" else "The reply says" if len(said) == 1 else "Replies say"
        parts.append(f"{verb} {'; '.join(f'“{text}”' for text in said)}.")
    return " ".join(parts)


def _clauses(sample: Sample, facts: ToolFacts) -> Iterable[str]:
    hints = facts.said.get(sample.number, ())
    found = [clause for hint in hints if (clause := _clause(hint))]
    if found or sample.status != 404:
        return found
    lost = [
        name
        for name, given in sample.arguments.items()
        if name in facts.arguments and any(v.value == given.value for v in facts.arguments[name].not_found)
    ]
    return [f"{lost[0]!r} {_WRONG['not_found']}"] if len(lost) == 1 else []


def _clause(hint: Hint) -> str:
    if hint.kind == "any_of":
        return f"none of {_names(hint.others)} is given" if hint.others else ""
    if hint.kind == "unknown":
        return "an argument is given that it does not know"
    if hint.argument is None:
        return ""
    name = repr(hint.argument)
    match hint.kind:
        case "type":
            return f"{name} is no {' or '.join(hint.types)}" if hint.types else f"{name} is of another type"
        case "format":
            return f"{name} is no {hint.format}" if hint.format else f"{name} is not of its form"
        case "exclusive":
            return f"{name} and {_names(hint.others)} are given together" if hint.others else ""
        case "together":
            return f"{name} is given without {_names(hint.others)}" if hint.others else ""
        case _:
            return f"{name} {_WRONG[hint.kind]}" if hint.kind in _WRONG else ""


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
