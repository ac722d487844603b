"""What refusals of calls that were answered before say of a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from probing.drift.change import Change
from probing.facts import ToolFacts
from probing.hint import Hint
from probing.sample import Sample
from protocols.protocol import ToolProtocol
from protocols.reply import one_line

_NO_TOOL = (405, 410, 501)
_DENIED = (401, 403, 407)
_LONGEST = 120
_BROKEN = frozenset({"type", "range", "length", "pattern", "format", "refused", "exclusive", "together"})


def refused_changes(old: ToolProtocol, facts: ToolFacts) -> Iterator[Change]:
    """The changes that refusals tell of. A failure of the service (5xx, no answer) tells of none."""
    dumb: list[Sample] = []
    for sample in facts.samples:
        if sample.done or sample.outcome == "not_run":
            continue
        if sample.status is not None and 200 <= sample.status < 300:
            text = f"its answer is no data any more: {one_line(sample.error, limit=_LONGEST)}"
            yield Change(old.name, "", "unreadable", "breaking", text)
            continue
        if sample.outcome == "unknown" and (sample.status is None or sample.status >= 500):
            continue
        told = [change for hint in facts.said.get(sample.number, ()) for change in _told(old, hint, sample)]
        yield from told
        if not told:
            dumb.append(sample)
    yield from _untold(old, facts, dumb)


def _told(old: ToolProtocol, hint: Hint, sample: Sample) -> Iterator[Change]:
    """What one hint says, of an argument that was right as it was given, or left out, before."""
    name = hint.argument
    if name is None:
        return
    given = name in sample.arguments
    if hint.kind == "missing" and not given and name not in old.required:
        text = f"the argument {name!r} must be given now"
        yield Change(old.name, name, "argument_required", "breaking", text)
    elif hint.kind == "unknown" and given:
        yield Change(old.name, name, "argument_unknown", "breaking", f"the argument {name!r} is not known any more")
    elif hint.kind == "enum" and given:
        yield from _enum(old, hint, sample)
    elif hint.kind in _BROKEN and given:
        said = f": “{one_line(hint.text, limit=_LONGEST)}”" if hint.text else ""
        text = f"the argument {name!r} is refused with a value that was accepted{said}"
        yield Change(old.name, name, "argument_refused", "breaking", text)


def _enum(old: ToolProtocol, hint: Hint, sample: Sample) -> Iterator[Change]:
    name = hint.argument or ""
    schema = old.parameters.get(name, {})
    known = schema.get("enum", ()) if isinstance(schema, dict) else ()
    lost = [value for value in known if value not in hint.values]
    new = [value for value in hint.values if value not in known] if known else []
    if sample.plain[name] not in hint.values or lost:
        values = f", of {', '.join(map(repr, lost))}" if lost else ""
        text = f"the argument {name!r} does not take all values any more{values}"
        yield Change(old.name, name, "argument_enum", "breaking", text, hint.values)
    elif new:
        text = f"the argument {name!r} takes more values: {', '.join(map(repr, new))}"
        yield Change(old.name, name, "argument_enum", "harmless", text, hint.values)


def _untold(old: ToolProtocol, facts: ToolFacts, dumb: Sequence[Sample]) -> Iterator[Change]:
    if not dumb:
        return
    whole = f"{len(dumb)} of {len(facts.samples)} calls that were answered before"
    statuses = {sample.status for sample in dumb}
    said = f"“{one_line(dumb[0].error, limit=_LONGEST)}”"
    none_done = not facts.done
    if statuses & set(_NO_TOOL) and none_done:
        yield Change(old.name, "", "gone", "breaking", f"the tool is not there any more: {said}")
    elif statuses <= set(_DENIED):
        yield Change(old.name, "", "denied", "risky", f"{whole} are not let in: {said}; look at the credential")
    elif statuses <= {404, *_NO_TOOL}:
        named = any(sample.arguments for sample in dumb)
        if none_done and (not named or len(dumb) > 1):
            yield Change(old.name, "", "gone", "breaking", f"{whole} find nothing any more: {said}")
        else:
            text = f"{whole} find nothing any more, so the things may be gone: {said}"
            yield Change(old.name, "", "not_found", "risky", text)
    else:
        yield Change(old.name, "", "refused", "breaking", f"{whole} are refused: {said}")
