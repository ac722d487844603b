"""What a probing leaves in its folder: a protocol a tool, the links, and how far it came."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from probing.coverage import coverage, readable
from probing.document import document
from probing.links import ObservedLink
from probing.log import FOLDER
from probing.probed import Probed
from protocols.files import cannot_write, write_whole
from protocols.jsontypes import dumps
from protocols.protocol import ToolProtocol, dump

LINKS, COVERAGE, READABLE = "links.json", "coverage.json", "COVERAGE.md"
_HASHES = "written.json"
_ASIDE = "new"
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_LONGEST = 100


@dataclass(frozen=True, kw_only=True)
class Written:
    """What was written.

    `kept` are files that a person has changed, or that were there before: they stay, and what would stand in them now
    lies under `aside`. `stale` are files of an earlier probing whose tool the source has no more; they stay too.
    """

    folder: Path
    protocols: Mapping[str, ToolProtocol] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def aside(self) -> Path:
        """Where the new versions of kept files are."""
        return self.folder / FOLDER / _ASIDE


def protocols_of(probed: Probed, *, keep_values: bool = False) -> dict[str, ToolProtocol]:
    """The protocol of each tool, by name."""
    return {
        name: document(
            facts,
            links=probed.links,
            effects=probed.effects.get(name),
            words=probed.words.get(name),
            instances=probed.instances.get(name, ()),
            keep_values=keep_values,
        )
        for name, facts in probed.facts.items()
    }


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
    return _write(folder, files, protocols)


def file_names(tools: Iterable[str]) -> dict[str, str]:
    """A file name for each tool: its own name where every system can have it, else the nearest one and a hash.

    No two are the same on a system that ignores case, and none is that of a report.
    """
    chosen: dict[str, str] = {}
    taken = {name.lower() for name in (LINKS, COVERAGE, READABLE)}
    for tool in sorted(tools):
        folded = unicodedata.normalize("NFKD", tool).encode("ascii", "ignore").decode()
        stem = re.sub(r"[^A-Za-z0-9._-]+", "_", folded)[:_LONGEST].strip("._-")
        if not stem or stem != tool or _RESERVED.fullmatch(stem) or f"{stem}.json".lower() in taken:
            stem = f"{stem or 'tool'}-{_hash(tool.encode('utf-8', 'surrogatepass'))[:8]}"
        taken.add(f"{stem}.json".lower())
        chosen[tool] = f"{stem}.json"
    return chosen


def _write(folder: Path, files: Mapping[str, str], protocols: Mapping[str, ToolProtocol]) -> Written:
    known = _known(folder)
    hashes: dict[str, str] = {}
    fates: dict[str, list[str]] = {"written": [], "unchanged": [], "kept": []}
    for name, text in files.items():
        path = folder / name
        new, there = _hash(text.encode("utf-8", "backslashreplace")), _hash_of(path)
        fate = "unchanged" if there == new else "written" if there in (None, known.get(name)) else "kept"
        fates[fate].append(name)
        if fate == "kept":
            write_whole(folder / FOLDER / _ASIDE / name, text, mode=0o600)
            hashes |= {name: known[name]} if name in known else {}
            continue
        (folder / FOLDER / _ASIDE / name).unlink(missing_ok=True)
        if fate == "written":
            write_whole(path, text)
        hashes[name] = new
    stale = [name for name in known if name not in files and (folder / name).is_file()]
    write_whole(folder / FOLDER / _HASHES, _text(hashes | {name: known[name] for name in stale}), mode=0o600)
    return Written(
        folder=folder,
        protocols=dict(protocols),
        written=tuple(fates["written"]),
        unchanged=tuple(fates["unchanged"]),
        kept=tuple(fates["kept"]),
        stale=tuple(stale),
    )


def _links(protocols: Mapping[str, ToolProtocol], observed: Sequence[ObservedLink]) -> list[dict[str, Any]]:
    counts = {(one.consumer, one.link.argument, one.link.tool, one.link.path): one for one in observed}
    found = []
    for name, protocol in protocols.items():
        for link in protocol.links:
            record = {"consumer": name, "argument": link.argument, "tool": link.tool, "path": link.path}
            record["support"] = link.support
            one = counts.get((name, link.argument, link.tool, link.path))
            told = {"accepted": one.accepted, "refused": one.refused, "elsewhere": one.elsewhere} if one else {}
            found.append(record | told)
    return found


def _known(folder: Path) -> dict[str, str]:
    """The hashes of the files as an earlier probing wrote them."""
    try:
        record = json.loads((folder / FOLDER / _HASHES).read_text(encoding="utf-8"))
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
