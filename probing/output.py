"""What a probing leaves in its folder: a protocol a tool, the links, and how far it came."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.document import Disclosure, protocols_of, status_of
from probing.facts import ToolFacts
from probing.infer import nodes
from probing.links import ObservedLink
from probing.probe import Probed
from probing.samples import FOLDER, Sample
from probing.writes import effects_of
from protocols.files import cannot_write, write_whole
from protocols.jsontypes import Json, dumps
from protocols.protocol import ToolProtocol, dump
from protocols.reply import one_line

LINKS, COVERAGE, READABLE = "links.json", "coverage.json", "COVERAGE.md"
_HASHES, _ASIDE = f"{FOLDER}/written.json", f"{FOLDER}/new"
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_LONGEST_NAME, _LONGEST, _MOST_LISTED = 100, 160, 6


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written.

    `kept` are files that a person has changed, or that were there before: they stay, and what would stand in them now
    lies under `aside`. `stale` are files of an earlier probing whose tool the source has no more; they stay too.
    """

    folder: Path
    protocols: Mapping[str, ToolProtocol] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def aside(self) -> Path:
        """Where the new versions of kept files are."""
        return self.folder / _ASIDE


def write(folder: Path, probed: Probed, *, keep_values: bool = False) -> Written:
    """Write all of it into `folder`, which is then a source of tools. Equal findings give equal bytes.

    Raises:
        CannotWrite: a file cannot be written.
    """
    protocols = protocols_of(probed, keep_values=keep_values)
    names = file_names(protocols)
    report = coverage(probed, protocols)
    files = {names[name]: _text(dump(protocol)) for name, protocol in protocols.items()}
    # `tools` is empty, so that whoever reads the folder as a source finds no tools in these two.
    files[LINKS] = _text({"tools": [], "links": _links(protocols, probed.links)})
    files[COVERAGE] = _text({"tools": [], **report})
    files[READABLE] = readable(report)
    known = _known(folder)
    hashes: dict[str, str] = {}
    written, kept = [], []
    for name, text in files.items():
        new, there, aside = (
            _hash(text.encode("utf-8", "backslashreplace")),
            _hash_of(folder / name),
            folder / _ASIDE / name,
        )
        if there not in (None, new, known.get(name)):  # changed by a person, or there before
            kept.append(name)
            write_whole(aside, text, mode=0o600)
            hashes |= {name: known[name]} if name in known else {}
            continue
        aside.unlink(missing_ok=True)
        hashes[name] = new
        if there != new:
            written.append(name)
            write_whole(folder / name, text)
    stale = tuple(name for name in known if name not in files and (folder / name).is_file())
    write_whole(folder / _HASHES, _text(hashes | {name: known[name] for name in stale}), mode=0o600)
    return Written(folder=folder, protocols=protocols, written=tuple(written), kept=tuple(kept), stale=stale)


def file_names(tools: Iterable[str]) -> dict[str, str]:
    """A file name for each tool: its own name where every system can have it, else the nearest one and a hash.

    No two are the same on a system that ignores case, and none is that of a report.
    """
    chosen: dict[str, str] = {}
    taken = {name.lower() for name in (LINKS, COVERAGE, READABLE)}
    for tool in sorted(tools):
        folded = unicodedata.normalize("NFKD", tool).encode("ascii", "ignore").decode()
        stem = re.sub(r"[^A-Za-z0-9._-]+", "_", folded)[:_LONGEST_NAME].strip("._-")
        if not stem or stem != tool or _RESERVED.fullmatch(stem) or f"{stem}.json".lower() in taken:
            stem = f"{stem or 'tool'}-{_hash(tool.encode('utf-8', 'surrogatepass'))[:8]}"
        taken.add(f"{stem}.json".lower())
        chosen[tool] = f"{stem}.json"
    return chosen


def _links(protocols: Mapping[str, ToolProtocol], observed: Sequence[ObservedLink]) -> list[dict[str, Any]]:
    counts = {(one.consumer, one.link.argument, one.link.tool, one.link.path): one for one in observed}
    found = []
    for name, link in ((name, link) for name, protocol in protocols.items() for link in protocol.links):
        one = counts.get((name, link.argument, link.tool, link.path))
        told = {"accepted": one.accepted, "refused": one.refused} if one else {}
        found.append({"consumer": name, "argument": link.argument, "tool": link.tool, "path": link.path,
                      "support": link.support, **told})  # fmt: skip
    return found


def _known(folder: Path) -> dict[str, str]:
    """The hashes of the files as an earlier probing wrote them."""
    try:
        record = json.loads((folder / _HASHES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(value) for name, value in record.items()} if isinstance(record, dict) else {}


def _hash_of(path: Path) -> str | None:
    try:
        return _hash(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot_write(path, error) from error


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
        "totals": {"tools": len(tools), **{k: sum(of(tool[k]) for tool in tools.values()) for k, of in sums.items()}},
        "stopped": {place: why for place, why in probed.stopped.items() if place not in tools},
        "made": [dict(one) for one in probed.made],
        "coverage": tools,
    }


def _tool(probed: Probed, name: str, protocol: ToolProtocol) -> dict[str, Any]:
    facts = probed.facts[name]
    return {
        "answered": bool(facts.done),
        "calls": sum(sample.purpose != "recorded" for sample in facts.samples),
        "outcomes": dict(sorted(Counter(map(_outcome, facts.samples)).items())),
        "arguments": {
            one.name: {
                "required": one.required,
                **({"why": one.why} if one.why else {}),
                "accepted": len(one.accepted),
                "refused": len(one.refused),
                "notFound": len(one.not_found),
            }
            for one in facts.arguments.values()
        },
        "fields": len(protocol.evidence.fields) if facts.done else 0,
        "links": [f"{link.argument} from {link.tool}: {link.path}" for link in protocol.links],
        "effects": effects_of(facts.protocol)[1],
        "missing": list(dict.fromkeys(_missing(facts, protocol, probed.stopped.get(name, "")))),
    }


def _outcome(sample: Sample) -> str:
    if sample.done:
        return "done"
    status = status_of(sample)
    if status is None:
        return "not sent" if sample.outcome == "not_run" else "no usable answer"
    return "refused" if status == "default" else status


def _missing(facts: ToolFacts, protocol: ToolProtocol, stopped: str) -> Iterator[str]:
    """What is not known of a tool, and why."""
    if stopped or not facts.samples:
        yield one_line(stopped or "it was not called.")
    if not facts.samples:
        return
    lost = [sample for sample in facts.samples if _outcome(sample) == "no usable answer"]
    last = next((s for s in reversed(lost if facts.done else facts.samples) if s.error), None)
    said = (
        one_line(Disclosure(facts, keep_values=False).words(last.error, last.arguments), limit=_LONGEST) if last else ""
    )
    for name, argument in facts.arguments.items():
        tried = len(argument.refused) + len(argument.not_found)
        if argument.unknown or argument.accepted or (not facts.done and argument.required is False):
            continue
        yield f"{name!r} was never accepted: {tried} tried." if tried else f"{name!r} was never given."
    if not facts.done:
        how = ", ".join(f"{name} × {count}" for name, count in Counter(map(_outcome, facts.samples)).most_common())
        yield f"none of its {len(facts.samples)} calls gave a response ({how}){said and f'; the last said “{said}”'}."
        return
    if not facts.fruitful:
        yield "only empty responses came, so nothing is known of what they may hold."
    elif empty := [path for path, node in nodes(protocol.output_schema) if _never_filled(node)]:
        more = f" and {len(empty) - _MOST_LISTED} more" if len(empty) > _MOST_LISTED else ""
        yield f"only empty lists were seen at {', '.join(map(repr, empty[:_MOST_LISTED]))}{more}."
    if lost:
        yield f"{len(lost)} of its calls got no usable answer; the last: “{said}”."


def _never_filled(node: Mapping[str, Json]) -> bool:
    """Whether a schema says of a list no more than that it is one."""
    kinds = node.get("type")
    is_list = kinds == "array" or (isinstance(kinds, list) and "array" in kinds)
    return is_list and node.get("items") in (None, {}, True, False) and "prefixItems" not in node


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
        arguments = ", ".join(f"{one}{_SIGNS[told['required']]}" for one, told in tool["arguments"].items())
        shown = (_cell(name), tool["calls"], outcomes or "–", _cell(arguments) or "–", tool["fields"])
        lines.append(f"| {' | '.join(map(str, shown))} | {len(tool['links'])} |")
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


_SIGNS = {True: "*", None: "?", False: ""}


def made_line(made: Mapping[str, Any]) -> str:
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
