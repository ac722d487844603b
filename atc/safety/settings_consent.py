"""The rule that consent in the user's settings holds only for the tools that it was given for.

The settings `allow_writes` and `trust` name tools. But names may change their meaning: documents
and MCP servers choose their own names, and an alias depends on the other tools. So such a setting
holds for the tool that had the name when the setting was first used, and for no other tool that has
this name later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.core.config import Config
from atc.safety.taint.trusted import explain_ambiguity, split_rule
from protocols.private_files import keep_private, write_whole
from protocols.protocol import format_binding
from protocols.tool import Tool
from protocols.toolbox import Toolbox

KEYS = ("allow_writes", "trust")
"""Settings in which a user consents to something by naming a tool."""


def drop_reassigned_consent(
    config: Config, settings: Config, toolbox: Toolbox, book: Path, *, say: Callable[[str], object]
) -> Config:
    """Return `config` without consent to tools whose name belonged to another tool before.

    Only consent that comes from the user's `settings` is dropped, not that of the command line. The
    file `book` records which tool each name belonged to when it was first used. `say` is called
    with a message about each setting that is dropped.

    Raises:
        NotPrivate: the file belongs to another user, or others can change it.
        CannotWrite: the file cannot be written.
    """
    known = _read_book(book)
    before = json.dumps(known)
    changes: dict[str, Any] = {}
    for key in KEYS:
        kept = []
        for entry in getattr(config, key):
            problem = explain_ambiguity(entry, toolbox) if key == "trust" else None
            if problem is not None and entry in getattr(settings, key):
                say(f"trust of your settings: {problem} Until then, it allows nothing.")
                continue
            tool = _find_tool(key, entry, toolbox) if entry in getattr(settings, key) else None
            if tool is None:
                kept.append(entry)
                continue
            first = known.setdefault(f"{key} {_name(key, entry)}", tool.call_digest)
            if first == tool.call_digest:
                kept.append(entry)
            else:
                say(_explain_reassigned(key, entry, tool, book))
        changes[key] = tuple(kept)
    if json.dumps(known) != before:
        write_whole(book, json.dumps(known, indent=1) + "\n")
    return replace(config, **changes)


def _read_book(book: Path) -> dict[str, str]:
    """Return the content of the file that records which tool each name belonged to.

    It maps each name to a digest of the tool. The result is empty if the file is missing or
    damaged.
    """
    keep_private(book)
    with suppress(OSError, ValueError):
        found: Any = json.loads(book.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return {str(key): str(value) for key, value in found.items()}
    return {}


def _name(key: str, entry: str) -> str:
    """Return the name in one value of the setting `key`: of a tool, or of one of its arguments.

    In `trust`, a path in the tool's response may follow: `search_contacts:contacts[].email`.
    """
    return entry.partition(":")[0] if key == "trust" else entry


def _find_tool(key: str, entry: str, toolbox: Toolbox) -> Tool | None:
    """Return the tool that one value of the setting `key` names, or whose argument it names.

    Return None if the value names no tool or several. An ambiguous name is reported elsewhere.
    """
    if entry == "all" or entry.startswith("value="):
        return None
    name = split_rule(entry, toolbox).tool if key == "trust" else entry
    found: Sequence[Tool] = toolbox.find_all(name)
    return found[0] if len(found) == 1 else None


def _explain_reassigned(key: str, entry: str, tool: Tool, book: Path) -> str:
    """Return the message about a setting that is dropped: its tool name now belongs to `tool`."""
    now = f"{tool.qualified}, {format_binding(tool.protocol.binding).partition('?')[0]}"
    return (
        f"{key} {entry!r} of your settings was given for another tool than the one that has this"
        f" name now ({now!r}), so it does not hold for this one. To allow this one, give"
        f" --{key.replace('_', '-')} on the command line; to let every name mean what it means now,"
        f" remove {str(book)!r}."
    )
