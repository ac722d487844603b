"""What a probing leaves in its folder: a protocol a tool, and how far it came."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.document import Disclosure, protocols_of, status_of
from probing.probe import Probed
from probing.samples import FOLDER, Sample
from probing.tool_facts import ToolFacts
from protocols.naming import tool_aliases
from protocols.private_files import write_whole
from protocols.protocol import ToolProtocol, dump
from protocols.response import one_line
from protocols.schema import dumps

COVERAGE = "coverage.json"
READABLE = "COVERAGE.md"
_HASHES = f"{FOLDER}/written.json"
_LONGEST_NAME = 100
_LONGEST = 160


@dataclass(frozen=True, kw_only=True)
class ReportFiles:
    """What was written. `kept` are files that a person has changed, or that were there before: they
    stay.
    """

    folder: Path
    protocols: Mapping[str, ToolProtocol] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def write(folder: Path, probed: Probed, *, keep_values: bool = False) -> ReportFiles:
    """Write all of it into `folder`, which is then a source of tools. Equal findings give equal
    bytes.

    Raises `CannotWrite` where a file cannot be written.
    """
    protocols = protocols_of(probed, keep_values=keep_values)
    report = coverage(probed, protocols)
    plain = [name.encode("ascii", "replace").decode()[:_LONGEST_NAME] for name in protocols]
    aliases = tool_aliases([(name, "") for name in ("coverage", *plain)])[
        1:
    ]  # the first is the report's
    names = {name: f"{alias}.json" for name, alias in zip(protocols, aliases, strict=True)}
    files = {names[name]: _text(dump(protocol)) for name, protocol in protocols.items()}
    # `tools` is empty, so that whoever reads the folder as a source finds no tools in this one.
    files |= {COVERAGE: _text({"tools": [], **report}), READABLE: render_markdown(report)}
    hashes = _read_hashes(folder)
    written = []
    kept = []
    for name, text in files.items():
        new = _hash(text.encode("utf-8", "backslashreplace"))
        there = _hash((folder / name).read_bytes()) if (folder / name).is_file() else None
        if there not in (None, new, hashes.get(name)):
            kept.append(name)
            continue
        hashes[name] = new
        if there != new:
            written.append(name)
            write_whole(folder / name, text)
    write_whole(folder / _HASHES, _text(hashes))
    return ReportFiles(folder=folder, protocols=protocols, written=tuple(written), kept=tuple(kept))


def _read_hashes(folder: Path) -> dict[str, str]:
    """The hashes of the files as an earlier probing wrote them."""
    try:
        return dict(json.loads((folder / _HASHES).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _text(document: Any) -> str:
    return dumps(document, indent=2) + "\n"


def coverage(probed: Probed, protocols: Mapping[str, ToolProtocol]) -> dict[str, Any]:
    """The report as JSON; `protocols` are those written, by name."""
    tools = {name: _tool(probed, name, protocols[name]) for name in probed.facts}
    sums: dict[str, Callable[[Any], int]] = {
        "answered": int, "calls": int, "arguments": len, "fields": int, "links": len}  # fmt: skip
    return {
        "totals": {
            "tools": len(tools),
            **{k: sum(of(tool[k]) for tool in tools.values()) for k, of in sums.items()},
        },
        "made": [dict(one) for one in probed.made],
        "coverage": tools,
    }


def _tool(probed: Probed, name: str, protocol: ToolProtocol) -> dict[str, Any]:
    facts = probed.facts[name]
    return {
        "answered": bool(facts.done),
        "calls": len(facts.samples),
        "outcomes": dict(sorted(Counter(map(_outcome, facts.samples)).items())),
        "arguments": {one.name: {"required": one.required} for one in facts.arguments.values()},
        "fields": len(protocol.evidence.fields) if facts.done else 0,
        "links": [f"{link.argument} from {link.tool}: {link.path}" for link in protocol.links],
        "missing": list(dict.fromkeys(_describe_gaps(facts, probed.stopped.get(name, "")))),
    }


def _outcome(sample: Sample) -> str:
    if sample.done:
        return "done"
    status = status_of(sample)
    if status is None:
        return "not sent" if sample.outcome == "not_run" else "no usable answer"
    return "refused" if status == "default" else status


def _describe_gaps(facts: ToolFacts, stopped: str) -> Iterator[str]:
    """What is not known of a tool, and why."""
    if stopped or not facts.samples:
        yield one_line(stopped or "it was not called.")
    if not facts.samples:
        return
    for name, argument in facts.arguments.items():
        tried = len({repr(s.arguments[name].value) for s in facts.samples if name in s.arguments})
        if not (
            argument.unknown or argument.accepted or (not facts.done and argument.required is False)
        ):
            yield (
                f"{name!r} was never accepted: {tried} tried."
                if tried
                else f"{name!r} was never given."
            )
    if facts.done and not facts.fruitful:
        yield "only empty responses came, so nothing is known of what they may hold."
    if not facts.done:
        last = next(
            (sample for sample in reversed(facts.samples) if sample.error), facts.samples[-1]
        )
        words = Disclosure(facts, keep_values=False).words(last.error, last.arguments)
        said = f"; the last said “{one_line(words, limit=_LONGEST)}”" if words else ""
        how = ", ".join(
            f"{name} × {count}"
            for name, count in Counter(map(_outcome, facts.samples)).most_common()
        )
        yield f"none of its {len(facts.samples)} calls gave a response ({how}){said}."


def render_markdown(report: Mapping[str, Any]) -> str:
    """The report as Markdown."""
    totals = report["totals"]
    tools = report["coverage"]
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
        arguments = ", ".join(
            f"{one}{_SIGNS[told['required']]}" for one, told in tool["arguments"].items()
        )
        shown = (
            _cell(name),
            tool["calls"],
            outcomes or "–",
            _cell(arguments) or "–",
            tool["fields"],
        )
        lines.append(f"| {' | '.join(map(str, shown))} | {len(tool['links'])} |")
    lines += ["", "`*` required, `?` not known whether; all other arguments may be left out.", ""]
    gaps = {name: tool["missing"] for name, tool in tools.items() if tool["missing"]}
    if gaps:
        lines += ["## What is missing, and why", ""]
        for name, missing in gaps.items():
            lines += [f"- **{_cell(name)}**", *(f"  - {_cell(text)}" for text in missing)]
        lines.append("")
    for title, removed in (("made and left", False), ("made and removed", True)):
        if made := [one for one in report["made"] if one["removed"] is removed]:
            lines += [
                f"## What this probing {title}",
                "",
                *(f"- {_cell(format_created_record(one))}" for one in made),
                "",
            ]
    return "\n".join(lines)


_SIGNS = {True: "*", None: "?", False: ""}


def format_created_record(made: Mapping[str, Any]) -> str:
    """One record that was made, in words: by which calls, how it is known, and what became of it."""
    calls = f"call{'s' * (len(made['calls']) > 1)} {', '.join(map(str, made['calls']))}"
    known = ", ".join([*(f"id {text}" for text in made["ids"]), *made["marks"]])
    return f"{made['tool']} ({calls}){known and ': '}{known}: {made['why']}"


def _cell(text: str) -> str:
    """Text as it can stand in a table: on one line, without what Markdown and HTML act on."""
    line = one_line(text, limit=600)
    for character in "\\`*_[]<>|":
        line = line.replace(character, f"\\{character}")
    return line
