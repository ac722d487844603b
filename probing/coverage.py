"""What a probing covered: per tool what is known, and what is missing and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from probing.demands import usable
from probing.document import nodes
from probing.document.errors import status_of
from probing.document.secrets import Telling
from probing.effects.known import Effects
from probing.facts import ArgumentFacts, ToolFacts
from probing.probed import Probed
from probing.sample import Sample
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.reply import one_line

_LONGEST = 160
_MOST_LISTED = 6


def coverage(probed: Probed, protocols: Mapping[str, ToolProtocol]) -> dict[str, Any]:
    """The report as JSON; `protocols` are those written, by name."""
    tools = {name: _tool(probed, name, protocols[name]) for name in probed.facts}
    return {
        "totals": {
            "tools": len(tools),
            "answered": sum(tool["answered"] for tool in tools.values()),
            "calls": sum(tool["calls"] for tool in tools.values()),
            "arguments": sum(len(tool["arguments"]) for tool in tools.values()),
            "fields": sum(tool["fields"] for tool in tools.values()),
            "links": sum(len(tool["links"]) for tool in tools.values()),
        },
        "rounds": [{"number": r.number, "calls": r.calls, "documented": list(r.documented)} for r in probed.rounds],
        "stopped": {place: why for place, why in probed.stopped.items() if place not in tools},
        "made": [dict(one) for one in probed.made],
        "coverage": tools,
    }


def _tool(probed: Probed, name: str, protocol: ToolProtocol) -> dict[str, Any]:
    facts = probed.facts[name]
    telling = Telling(facts, keep_values=False)
    effects = probed.effects.get(name)
    return {
        "answered": bool(facts.done),
        "calls": sum(sample.purpose != "recorded" for sample in facts.samples),
        "outcomes": dict(sorted(Counter(map(_outcome, facts.samples)).items())),
        "arguments": {argument.name: _argument(argument) for argument in facts.arguments.values()},
        "fields": len(protocol.evidence.fields) if facts.done else 0,
        "links": [f"{link.argument} from {link.tool}: {link.path}" for link in protocol.links],
        **({"effects": dict(effects.why)} if effects else {}),
        "missing": list(dict.fromkeys(_missing(facts, protocol, effects, probed.stopped.get(name, ""), telling))),
    }


def _outcome(sample: Sample) -> str:
    if sample.done:
        return "done"
    status = status_of(sample)
    if status is None:
        return "not sent" if sample.outcome == "not_run" else "no usable answer"
    return "refused" if status == "default" else status


def _argument(argument: ArgumentFacts) -> dict[str, Any]:
    return {
        "required": argument.required,
        **({"why": argument.why} if argument.why else {}),
        "accepted": len(argument.accepted),
        "refused": len(argument.refused),
        "notFound": len(argument.not_found),
    }


def _missing(
    facts: ToolFacts, protocol: ToolProtocol, effects: Effects | None, stopped: str, telling: Telling
) -> Iterator[str]:
    if not facts.samples:
        yield one_line(stopped or "it was not called.")
        return
    if stopped:
        yield one_line(stopped)
    if not facts.done:
        yield from _no_value(facts)
        yield _refusals(facts, telling)
        return
    if not facts.fruitful:
        yield "only empty responses came, so nothing is known of what they may hold."
    yield from _unknown_arguments(facts)
    empty = [path for path, node in nodes(protocol.output_schema) if _never_filled(node)]
    if empty and facts.fruitful:
        yield f"only empty lists were seen at {_listed(empty)}."
    yield from _lost(facts, telling)
    if facts.arguments and len(facts.done) == len(facts.samples):
        yield "no refusal was seen, so nothing is known of its errors."
    if effects and effects.annotations.read_only is not True and not effects.observed:
        yield "no read showed what it changes: its effects are read from its method and name."


def _no_value(facts: ToolFacts) -> Iterator[str]:
    for name in usable(facts):
        argument = facts.arguments[name]
        if argument.required is not False and (argument.refused or argument.not_found):
            tried = len(argument.refused) + len(argument.not_found)
            refused, lost = len(argument.refused), len(argument.not_found)
            how = " and ".join([*([f"{refused} refused"] if refused else []), *([f"{lost} not found"] if lost else [])])
            yield f"no value was found for {name!r}: {tried} tried, {how}."
        elif argument.required and not any(name in sample.arguments for sample in facts.samples):
            yield f"no value was found for {name!r}: there was none to try."


def _refusals(facts: ToolFacts, telling: Telling) -> str:
    counts = Counter(map(_outcome, facts.samples))
    how = ", ".join(f"{outcome} × {count}" for outcome, count in counts.most_common())
    last = next((s for s in reversed(facts.samples) if s.error), None)
    said = f"; the last said “{one_line(telling.words(last.error, last.arguments), limit=_LONGEST)}”" if last else ""
    return f"none of its {len(facts.samples)} calls gave a response ({how}){said}."


def _unknown_arguments(facts: ToolFacts) -> Iterator[str]:
    for name, argument in facts.arguments.items():
        if any(hint.kind == "unknown" for hint in argument.hints) and not argument.accepted:
            continue
        if not argument.accepted:
            tried = len(argument.refused) + len(argument.not_found)
            values = "1 value was" if tried == 1 else f"{tried} values were"
            yield f"{name!r} was never accepted: {values} tried." if tried else f"{name!r} was never given."
        if argument.required is None:
            yield f"whether {name!r} is required is not known."


def _lost(facts: ToolFacts, telling: Telling) -> Iterator[str]:
    lost = [sample for sample in facts.samples if _outcome(sample) == "no usable answer"]
    if lost:
        said = one_line(telling.words(lost[-1].error, lost[-1].arguments), limit=_LONGEST)
        yield f"{len(lost)} of its calls got no usable answer; the last: “{said}”."


def _never_filled(node: Mapping[str, Json]) -> bool:
    """Whether a schema says of a list no more than that it is one."""
    kinds = node.get("type")
    is_list = kinds == "array" or (isinstance(kinds, list) and "array" in kinds)
    return is_list and node.get("items") in (None, {}, True, False) and "prefixItems" not in node


def _listed(texts: Iterable[str]) -> str:
    names = [f"'{text}'" for text in texts]
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


def readable(report: Mapping[str, Any]) -> str:
    """The report as Markdown."""
    totals, tools = report["totals"], report["coverage"]
    known = f"{totals['fields']} response fields, {totals['arguments']} arguments, {totals['links']} links"
    lines = [
        "# Coverage",
        "",
        f"{totals['answered']} of {totals['tools']} tools answered, in {totals['calls']} calls: {known}.",
        "",
        "| tool | calls | outcomes | arguments | fields | links |",
        "|---|---:|---|---|---:|---:|",
    ]
    for name, tool in tools.items():
        outcomes = ", ".join(f"{outcome} × {count}" for outcome, count in tool["outcomes"].items())
        arguments = ", ".join(_marked(argument, told) for argument, told in tool["arguments"].items())
        cells = [
            _cell(name),
            tool["calls"],
            outcomes or "–",
            _cell(arguments) or "–",
            tool["fields"],
            len(tool["links"]),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "`*` required, `?` not known whether; all other arguments may be left out.", ""]
    gaps = {name: tool["missing"] for name, tool in tools.items() if tool["missing"]}
    if gaps or report["stopped"]:
        lines += ["## What is missing, and why", ""]
        lines += [f"- {_cell(place)}: {why}" for place, why in report["stopped"].items()]
        for name, missing in gaps.items():
            lines += [f"- **{_cell(name)}**", *(f"  - {_cell(text)}" for text in missing)]
        lines.append("")
    for title, removed in (("made and left", False), ("made and removed", True)):
        if made := [one for one in report["made"] if one["removed"] is removed]:
            lines += [f"## What this probing {title}", "", *(f"- {_cell(made_line(one))}" for one in made), ""]
    return "\n".join(lines)


def made_line(made: Mapping[str, Any]) -> str:
    """One record that was made, in words: by which calls, how it is known, and what became of it."""
    calls = f"call{'s' * (len(made['calls']) > 1)} {', '.join(map(str, made['calls']))}"
    known = ", ".join([*(f"id {text}" for text in made["ids"]), *made["marks"]])
    return f"{made['tool']} ({calls}){known and ': '}{known}: {made['why']}"


def _marked(name: str, told: Mapping[str, Any]) -> str:
    return name + {True: "*", None: "?"}.get(told["required"], "")


def _cell(text: str) -> str:
    """Text as it can stand in a table: on one line, without what Markdown and HTML act on."""
    line = one_line(text, limit=600)
    for character in "\\`*_[]<>|":
        line = line.replace(character, f"\\{character}")
    return line
