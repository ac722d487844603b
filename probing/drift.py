"""Drift: what of a tool is not as its protocol says any more, as far as new answers show (`atc probe --check`)."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from probing.facts import ToolFacts, learn, says_something
from probing.gate import Caller, NotCalled
from probing.infer import conforms, infer, nodes
from probing.kinds import kind_of, reads
from probing.pools import harvest
from probing.replies import Hint
from probing.samples import FOLDER, Arguments, Log, Origin, ProbeSettings, Sample, Value, Watch, unwatched
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Evidence, ToolProtocol
from protocols.reply import one_line
from protocols.schema import resolve, type_name, types, wrapper_key
from protocols.secrets import PLACEHOLDER
from protocols.toolbox import Toolbox

Severity = Literal["breaking", "risky", "harmless"]
"""*breaking*: a program that uses it as the protocol says fails. *risky*: it may fail on some answers, or the evidence
is thin. *harmless*: no program can notice."""
_WORST = ("breaking", "risky", "harmless")
CALLS = 3
"""Of one tool."""
_ENOUGH = 3
"""Records without a field that all had, from which it counts as gone."""
_NO_TOOL, _DENIED = (405, 410, 501), (401, 403, 407)
_NOT_READ = "it may change something, so it is not called"
_NO_ARGUMENTS = "no arguments are known with which it answers; probe with --keep-values, or keep the folder's log"


@dataclass(frozen=True, slots=True)
class Change:
    """What changed: `path` is a response path (`airports[].code`), or the argument's name for kinds `argument_…`.

    `text` says it in a clause, with the counts that support it. `values` are new values of an enum. `everywhere`: every
    value that came shows it.
    """

    tool: str
    path: str
    kind: str
    severity: Severity
    text: str
    values: tuple[Json, ...] = ()
    everywhere: bool = True


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What came of a check: the protocols by tool as they were and as they are now, the changes, the worst first.

    `unchecked` says of tools why nothing, or not all, is known of them.
    """

    old: Mapping[str, ToolProtocol]
    new: Mapping[str, ToolProtocol]
    changes: tuple[Change, ...] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    calls: int = 0

    @property
    def breaking(self) -> tuple[Change, ...]:
        """The changes on which programs fail."""
        return tuple(change for change in self.changes if change.severity == "breaking")


def compare(old: ToolProtocol, facts: ToolFacts) -> list[Change]:
    """What changed, the worst first. `facts` are of new calls alone, each with arguments that worked before."""
    found = {
        (change.path, change.kind, change.text): change for change in (*_refusals(old, facts), *_responses(old, facts))
    }
    return sorted(found.values(), key=lambda change: (_WORST.index(change.severity), change.path, change.kind))


@dataclass
class _At:
    """What was met at one path, beside what the schema describes there."""

    wanted: tuple[str, ...] = ()
    values: int = 0
    objects: int = 0
    odd: Counter[str] = field(default_factory=Counter)
    """Types of values that are of none that is described."""
    unlisted: list[Json] = field(default_factory=list)
    fields: dict[str, bool] = field(default_factory=dict)
    """Fields that are described → whether they were always there."""
    keys: Counter[str] = field(default_factory=Counter)
    new: Counter[str] = field(default_factory=Counter)


class _Walk:
    """New answers beside the old schema, place by place."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self.places: dict[str, _At] = {}

    def visit(self, value: Json, schema: Json, path: str = "", depth: int = 40) -> None:
        """Note a value at a path."""
        if not isinstance(schema, dict) or not schema or not depth:
            return
        view = resolve(schema, self._root)
        options = [resolve(one, self._root) for one in (*view.get("anyOf", ()), *view.get("oneOf", ()))]
        kinds = [types(option) for option in options]
        wanted = types(view) or (tuple(kind for of in kinds for kind in of) if all(kinds) else ())
        at = self.places.setdefault(path, _At())
        at.values += 1
        if not _is_of(value, wanted):
            at.wanted = tuple(dict.fromkeys(wanted))
            at.odd[type_name(value)] += 1
            return
        fitting = [option for option in options if _is_of(value, types(option))]
        nearest = max(fitting, key=lambda option: self._nearness(value, option), default={})
        for part in (view, *(resolve(one, self._root) for one in view.get("allOf", ())), nearest):
            self._inside(at, value, part, path, depth - 1)

    def _inside(self, at: _At, value: Json, view: JsonObject, path: str, depth: int) -> None:
        listed = view.get("enum", [view["const"]] if "const" in view else [value])
        at.unlisted += [value] if value not in [*listed, *at.unlisted] else []
        for item in value if isinstance(value, list) else ():
            self.visit(item, view.get("items"), f"{path}[]", depth)
        properties, rest = view.get("properties", {}), view.get("additionalProperties")
        if not isinstance(value, dict) or (not properties and rest is not False and not isinstance(rest, dict)):
            return  # nothing is described here
        at.objects += 1
        at.fields |= {name: name in view.get("required", ()) for name in properties}
        at.keys.update(value.keys() & properties.keys())
        for name, part in value.items():
            if name in properties or isinstance(rest, dict):
                below = f"{path}.{name if name in properties else '*'}".lstrip(".")
                self.visit(part, properties.get(name, rest), below, depth)
            elif "patternProperties" not in view:
                at.new[name] += 1

    def _nearness(self, value: Json, option: JsonObject) -> tuple[bool, int]:
        shared = len(value.keys() & option.get("properties", {}).keys()) if isinstance(value, dict) else 0
        return conforms({**option, "$defs": self._root.get("$defs", {})}, value), shared


def _is_of(value: Json, wanted: Sequence[str]) -> bool:
    kind = type_name(value)
    whole = isinstance(value, float) and value.is_integer() and "integer" in wanted
    return not wanted or kind in wanted or (kind == "integer" and "number" in wanted) or whole


def _responses(old: ToolProtocol, facts: ToolFacts) -> Iterator[Change]:
    walk = _Walk(old.output_schema or {})
    for sample in facts.done:
        walk.visit(sample.response, old.output_schema)
    for path, at in walk.places.items():
        shown, of = repr(path) if path else "the response", f"of {at.values} places"
        nulls = at.odd.pop("null", 0)
        if at.odd:
            total, slight = at.odd.total(), set(at.odd) == {"number"} and "integer" in at.wanted
            text = f"{shown} is {' or '.join(sorted(at.odd))} in {total} {of}, and was {' or '.join(at.wanted)}"
            severity: Severity = "risky" if slight else "breaking"
            yield Change(old.name, path, "type", severity, text, everywhere=total == at.values)
        if nulls:
            yield Change(old.name, path, "nullable", "risky", f"{shown} is null in {nulls} {of}, and never was")
        if at.unlisted:
            text = f"{shown} has values that it did not have: {', '.join(map(repr, at.unlisted[:5]))}"
            yield Change(old.name, path, "enum", "risky", text, tuple(at.unlisted))
        for name in (name for name, always in at.fields.items() if always and at.keys[name] < at.objects):
            yield _absence(old, f"{path}.{name}".lstrip("."), at.keys[name], at.objects)
        for name, count in at.new.items():
            below = f"{path}.{name}".lstrip(".")
            text = f"{below!r} is new, in {count} of {at.objects} records"
            if lone := not path and wrapper_key(old.output_schema) is not None:
                text += "; programs get the one field of such an answer alone until its protocol says otherwise"
            yield Change(old.name, below, "new_field", "risky" if lone else "harmless", text)


def _absence(old: ToolProtocol, path: str, there: int, records: int) -> Change:
    """A field that was always there is not."""
    seen = old.evidence.observations
    before = f"it was in all of {seen} answers" if seen else "it was always there"
    if there:
        text = f"{path!r} is missing in {records - there} of {records} records; {before}"
        return Change(old.name, path, "optional", "risky", text)
    severity: Severity = "breaking" if records >= _ENOUGH else "risky"
    return Change(old.name, path, "removed", severity, f"{path!r} is in none of {records} records; {before}")


def _refusals(old: ToolProtocol, facts: ToolFacts) -> Iterator[Change]:
    """The changes that refusals tell of. A failure of the service (5xx, no answer) tells of none."""
    dumb: list[Sample] = []
    for sample in facts.samples:
        if sample.done or sample.outcome == "not_run":
            continue
        if sample.status is not None and 200 <= sample.status < 300:
            text = f"its answer is no data any more: {one_line(sample.error, limit=120)}"
            yield Change(old.name, "", "unreadable", "breaking", text)
        elif sample.outcome != "unknown" or (sample.status is not None and sample.status < 500):
            told = [change for hint in facts.said.get(sample.number, ()) if (change := _told(old, hint, sample))]
            yield from told
            dumb += [] if told else [sample]
    if dumb:
        yield Change(old.name, "", *_untold(facts, dumb))


def _told(old: ToolProtocol, hint: Hint, sample: Sample) -> Change | None:
    """What one hint says, of an argument that was right as it was given, or left out, before."""
    name = hint.argument
    lost = [value for value in old.parameters.get(name, {}).get("enum", ()) if value not in hint.values]
    if name not in sample.arguments:
        kind = "required" if hint.kind == "missing" and name not in old.required else ""
        text = "must be given now"
    elif hint.kind == "unknown":
        kind, text = "unknown", "is not known any more"
    elif hint.kind == "enum":
        kind = "enum" if lost or sample.plain[name] not in hint.values else ""
        text = f"does not take all values any more{', of ' * bool(lost)}{', '.join(map(repr, lost))}"
    else:
        kind = "refused" if hint.kind not in ("missing", "not_found", "example") else ""
        said = f": “{one_line(hint.text, limit=120)}”" if hint.text else ""
        text = f"is refused with a value that was accepted{said}"
    values = hint.values if kind == "enum" else ()
    return (
        Change(old.name, name, f"argument_{kind}", "breaking", f"the argument {name!r} {text}", values)
        if kind
        else None
    )


def _untold(facts: ToolFacts, dumb: Sequence[Sample]) -> tuple[str, Severity, str]:
    """What refusals say that name no argument: kind, severity and a clause."""
    whole = f"{len(dumb)} of {len(facts.samples)} calls that were answered before"
    statuses, said = {sample.status for sample in dumb}, f"“{one_line(dumb[0].error, limit=120)}”"
    if statuses & set(_NO_TOOL) and not facts.done:
        return "gone", "breaking", f"the tool is not there any more: {said}"
    if statuses <= set(_DENIED):
        return "denied", "risky", f"{whole} are not let in: {said}; look at the credential"
    if not statuses <= {404, *_NO_TOOL}:
        return "refused", "breaking", f"{whole} are refused: {said}"
    if not facts.done and (len(dumb) > 1 or not any(sample.arguments for sample in dumb)):
        return "gone", "breaking", f"{whole} find nothing any more: {said}"
    return "not_found", "risky", f"{whole} find nothing any more, so the things may be gone: {said}"


def revised(old: ToolProtocol, changes: Sequence[Change], facts: ToolFacts) -> ToolProtocol:
    """`old` with `changes` of this tool worked in: what the static check holds stored programs against."""
    mine = [change for change in changes if change.tool == old.name]
    if not mine:
        return old
    output: Any = old.output_schema
    if output is not None and facts.done:
        output = copy.deepcopy(dict(output))
        for change in mine:
            gone = change.kind == "removed" or (change.kind == "type" and change.everywhere)
            if gone and not change.path:
                output = {key: part for key, part in output.items() if key == "$defs"}
            above, _, name = change.path.rpartition(".")
            for path, node in list(nodes(output)) if gone and name else ():
                if path == above and name in node.get("properties", {}):
                    node["properties"].pop(name)
                    node["required"] = [other for other in node.get("required", ()) if other != name]
        replies = [sample.response for sample in facts.done]
        output = infer(replies, output)
    arguments: dict[str, Any] = copy.deepcopy(dict(old.input_schema))
    properties = arguments.setdefault("properties", {})
    for change in mine:
        required = [other for other in arguments.get("required", ()) if other != change.path]
        if change.kind == "argument_required":
            properties.setdefault(change.path, {})
            arguments["required"] = [*required, change.path]
        elif change.kind == "argument_unknown":
            properties.pop(change.path, None)
            arguments["required"] = required
        elif change.kind == "argument_enum" and isinstance(properties.get(change.path), dict):
            properties[change.path]["enum"] = list(change.values)
    return replace(old, input_schema=arguments, output_schema=output, evidence=Evidence(level="observed"))


def earlier_samples(folder: Path) -> list[Sample]:
    """The samples of the probing that wrote `folder`; none where its log is gone.

    Raises:
        LogUnreadable: it cannot be read, or is being written.
    """
    if not (folder / FOLDER / "samples.jsonl").is_file():
        return []
    with Log(folder) as log:
        return list(log.samples)


def recheck(
    toolbox: Toolbox,
    log: Log,
    *,
    settings: ProbeSettings | None = None,
    earlier: Sequence[Sample] = (),
    watch: Watch = unwatched,
) -> Checked:
    """Call the reads among `toolbox` again and compare their answers with their protocols.

    `toolbox` holds the folder's protocols, bound to the live tools. `log` is a fresh one, so that each call is made.
    Arguments are those of `earlier` samples that were done, then those of examples that hide none, then values that the
    links find in new answers. Nothing is raised for what a tool does.
    """
    caller = Caller(toolbox, log, settings or ProbeSettings(), watch=watch)
    old = {tool.protocol.name: tool.protocol for tool in toolbox.values()}
    unchecked = {name: _NOT_READ for name, protocol in old.items() if not reads(protocol)}
    guessed: set[int] = set()  # numbers of samples whose arguments may be wrong by themselves
    removers = {name for name, protocol in old.items() if kind_of(protocol)[0] == "remove"}
    gone = {repr(value) for s in earlier if s.done and s.tool in removers for value in s.plain.values()}
    kept = [s for s in earlier if s.done and not any(repr(value) in gone for value in s.plain.values())]

    def call(name: str, choices: Iterable[Arguments], *, guesses: bool) -> bool:
        """Call a tool, with guesses until one is right. Gives whether that is all."""
        for arguments in islice(choices, CALLS):
            try:
                sample = caller.call(name, arguments, purpose="check")
            except NotCalled as refusal:
                if not any(log.of(name)):
                    unchecked[name] = str(refusal)
                return True
            if guesses and sample.done:
                return True
            guessed.update([sample.number] if guesses else [])
        return not guesses

    waiting = []
    for name in old.keys() - unchecked.keys():
        known = list(_known(old[name], [s for s in kept if s.tool == name]))
        call(name, known, guesses=False)
        waiting += [] if known else [name]
    before = len(waiting) + 1
    while len(waiting) < before:  # a tool that answers now may hold what the next one needs
        before = len(waiting)
        waiting = [name for name in waiting if not call(name, _linked(old[name], log), guesses=True)]
    unchecked |= dict.fromkeys(waiting, _NO_ARGUMENTS)
    facts = {n: learn(p, [s for s in log.of(n) if s.done or s.number not in guessed]) for n, p in old.items()}
    changes = [change for name, protocol in old.items() for change in compare(protocol, facts[name])]
    for name, one in facts.items():
        if one.samples and not one.done and not any(change.tool == name for change in changes):
            unchecked.setdefault(name, f"no answer came: {one.samples[-1].error}")
    changes.sort(key=lambda change: _WORST.index(change.severity))
    new = {name: revised(protocol, changes, facts[name]) for name, protocol in old.items()}
    return Checked(old=old, new=new, changes=tuple(changes), unchecked=unchecked, calls=len(log.samples))


def _known(protocol: ToolProtocol, done: list[Sample]) -> Iterator[Arguments]:
    """Arguments with which a tool answered before: the fewest, then the most; then those of examples."""
    done.sort(key=lambda s: (not says_something(s.response), len(s.arguments), s.number))
    chosen = [s.arguments for s in (*done[:1], *sorted(done[1:], key=lambda s: -len(s.arguments)))]
    shown = (example.arguments for example in protocol.examples if protocol.required <= example.arguments.keys())
    plain = (arguments for arguments in shown if not PLACEHOLDER.search(json.dumps(arguments)))
    chosen += [{name: Value(value, Origin(kind="given")) for name, value in one.items()} for one in plain]
    chosen += [] if protocol.required else [{}]
    yield from {repr({n: v.value for n, v in one.items()}): one for one in chosen}.values()


def _linked(protocol: ToolProtocol, log: Log) -> Iterator[Arguments]:
    """Arguments whose values the links find in new answers."""
    values: dict[str, list[Value]] = {argument: [] for argument in sorted(protocol.required)}
    for link in sorted(protocol.links, key=lambda link: ("declared", "observed", "guessed").index(link.support)):
        for sample in log.of(link.tool) if link.argument in values else ():
            for path, value, _ in harvest(sample.response) if sample.done else ():
                if path == link.path:
                    values[link.argument].append(Value(value, Origin(kind="response", tool=link.tool, path=path)))
    for place in range(CALLS) if all(values.values()) else ():
        yield {argument: found[min(place, len(found) - 1)] for argument, found in values.items()}
