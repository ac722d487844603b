"""Standing consent: what the user's settings allow and trust by a tool's name, bound to the first tool of that name.

A name says nothing about whose it is: a document titles itself, an MCP server names itself, an alias depends on the
other tools. So a setting that names a tool holds for the tool that had the name when the setting was first used, and
for no other one that has the name later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.core.config import Config
from protocols.private_files import keep_private, write_whole
from protocols.protocol import format_binding
from protocols.toolbox import Tool, Toolbox

KEYS = ("allow_writes", "trust")
"""Settings that agree to something by the name of a tool."""


def drop_reassigned_consent(
    config: Config, standing: Config, toolbox: Toolbox, book: Path, *, say: Callable[[str], object]
) -> Config:
    """Return `config` without what the `standing` settings agree to by a name that another tool has taken since.

    `book` is the file that remembers whose each name was. `say` is told of each setting that does not hold.

    Raises:
        NotPrivate, CannotWrite: the file is another user's, or cannot be written.
    """
    known = _read_book(book)
    before = json.dumps(known)
    changes: dict[str, Any] = {}
    for key in KEYS:
        kept = []
        for entry in getattr(config, key):
            tool = _find_tool(key, entry, toolbox) if entry in getattr(standing, key) else None
            if (
                tool is None
                or known.setdefault(f"{key} {_name(key, entry)}", tool.call_digest)
                == tool.call_digest
            ):
                kept.append(entry)
            else:
                say(_explain_reassigned(key, entry, tool, book))
        changes[key] = tuple(kept)
    if json.dumps(known) != before:
        write_whole(book, json.dumps(known, indent=1) + "\n")
    return replace(config, **changes)


def _read_book(book: Path) -> dict[str, str]:
    """Return what the file remembers; nothing if there is none, or it is damaged."""
    keep_private(book)
    with suppress(OSError, ValueError):
        found: Any = json.loads(book.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return {str(key): str(value) for key, value in found.items()}
    return {}


def _name(key: str, entry: str) -> str:
    """Return the tool's name in a setting; a rule of `trust` may go on with a place in its response."""
    return entry.strip().partition(":")[0] if key == "trust" else entry


def _find_tool(key: str, entry: str, toolbox: Toolbox) -> Tool | None:
    """Return the one tool that a setting names; None if it names none or several, which is told of elsewhere."""
    if entry == "all" or entry.startswith("value="):
        return None
    found: Sequence[Tool] = toolbox.find_all(_name(key, entry))
    return found[0] if len(found) == 1 else None


def _explain_reassigned(key: str, entry: str, tool: Tool, book: Path) -> str:
    now = f"{tool.qualified}, {format_binding(tool.protocol.binding).partition('?')[0]}"
    return (
        f"{key} {entry!r} of your settings was given for another tool than the one that has this name now ({now!r}), so"
        f" it does not hold for this one. To allow this one, give --{key.replace('_', '-')} on the command line; to let"
        f" every name mean what it means now, remove {str(book)!r}."
    )
