"""Writes the results of a probing run: a protocol file for each tool, and a coverage report."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.disclosure import Disclosure
from probing.document import protocols_of, status_of
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
    """The names of the report's files, written or kept as they were, and the protocols."""

    folder: Path
    protocols: Mapping[str, ToolProtocol] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Files that were not overwritten, because a person created or changed them."""


def write(folder: Path, probed: Probed, *, keep_values: bool = False) -> ReportFiles:
    """Write the protocols and the report into `folder`. Tools can then be loaded from this folder.

    Equal results give equal files. Values of calls are written only if `keep_values` is True.

    Raises:
        CannotWrite: a file cannot be written.
    """
    protocols = protocols_of(probed, keep_values=keep_values)
    report = coverage(probed, protocols)
    plain = [name.encode("ascii", "replace").decode()[:_LONGEST_NAME] for name in protocols]
    aliases = tool_aliases([(name, "") for name in ("coverage", *plain)])[
        1:
    ]  # without the report's own name
    names = {name: f"{alias}.json" for name, alias in zip(protocols, aliases, strict=True)}
    files = {names[name]: _text(dump(protocol)) for name, protocol in protocols.items()}
    # `tools` is empty, so that the folder, read as a source, has no tools in this file.
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
    """Return the hashes of the files that an earlier run wrote, keyed by file name."""
    try:
        return dict(json.loads((folder / _HASHES).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _text(document: Any) -> str:
    return dumps(document, indent=2) + "\n"


def coverage(probed: Probed, protocols: Mapping[str, ToolProtocol]) -> dict[str, Any]:
    """Return the coverage report (what probing found out about each tool) as a JSON object.

    `protocols` has the protocols that were written, keyed by the tool's name.
    """
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
    """Yield sentences on what is still unknown about a tool after probing, and why.

    `stopped` is the reason why the tool was not called (any more), or "".
    """
    if stopped or not facts.samples:
        yield one_line(stopped or "it was not called.")
    if not facts.samples:
        return
    for name, argument in facts.arguments.items():
        is_optional = not facts.done and argument.required is False
        if not argument.unknown and not argument.accepted and not is_optional:
            yield _describe_unaccepted(facts, name)
    if facts.done and not facts.fruitful:
        yield "only empty responses came, so nothing is known of what they may hold."
    if not facts.done:
        yield _describe_no_response(facts)


def _describe_unaccepted(facts: ToolFacts, name: str) -> str:
    """Return a sentence about an argument that was in none of the successful calls of a tool."""
    tried = {
        repr(sample.arguments[name].value) for sample in facts.samples if name in sample.arguments
    }
    if tried:
        return f"{name!r} was never accepted: {len(tried)} tried."
    return f"{name!r} was never given."


def _describe_no_response(facts: ToolFacts) -> str:
    """Return a sentence about a tool of which no call succeeded, with its last error."""
    last = next((sample for sample in reversed(facts.samples) if sample.error), facts.samples[-1])
    words = Disclosure(facts, keep_values=False).words(last.error, last.arguments)
    quoted = f"; the last said “{one_line(words, limit=_LONGEST)}”" if words else ""
    counts = Counter(map(_outcome, facts.samples)).most_common()
    outcomes = ", ".join(f"{name} × {count}" for name, count in counts)
    return f"none of its {len(facts.samples)} calls gave a response ({outcomes}){quoted}."


def render_markdown(report: Mapping[str, Any]) -> str:
    """Return the coverage report, which says what probing found out, as Markdown."""
    totals = report["totals"]
    tools = report["coverage"]
    known = (
        f"{totals['fields']} response fields, {totals['arguments']} arguments, "
        f"{totals['links']} links"
    )
    calls = f"in {totals['calls']} calls"
    lines = [
        "# Coverage",
        "",
        f"{totals['answered']} of {totals['tools']} tools answered, {calls}: {known}.",
        "",
        "| tool | calls | outcomes | arguments | fields | links |",
        "|---|---:|---|---|---:|---:|",
    ]
    lines += [_table_row(name, tool) for name, tool in tools.items()]
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


def _table_row(name: str, tool: Mapping[str, Any]) -> str:
    """Return the row of one tool in the coverage table."""
    outcomes = ", ".join(f"{outcome} × {count}" for outcome, count in tool["outcomes"].items())
    arguments = ", ".join(
        f"{argument}{_SIGNS[known['required']]}" for argument, known in tool["arguments"].items()
    )
    cells = (
        _cell(name),
        tool["calls"],
        outcomes or "–",
        _cell(arguments) or "–",
        tool["fields"],
        len(tool["links"]),
    )
    return f"| {' | '.join(map(str, cells))} |"


def format_created_record(made: Mapping[str, Any]) -> str:
    """Return a line about a record that probing created.

    It names the record's calls, ids and marks, and says if the record was removed.
    """
    calls = f"call{'s' * (len(made['calls']) > 1)} {', '.join(map(str, made['calls']))}"
    known = ", ".join([*(f"id {text}" for text in made["ids"]), *made["marks"]])
    return f"{made['tool']} ({calls}){known and ': '}{known}: {made['why']}"


def _cell(text: str) -> str:
    """Return a text for a table cell: on one line, with Markdown and HTML escaped."""
    line = one_line(text, limit=600)
    for character in "\\`*_[]<>|":
        line = line.replace(character, f"\\{character}")
    return line
