"""A folder's own `atc.toml`, which may have come with somebody else's repository: what it may set, and who trusts it.

The user trusts one file at one place with one content. Until then it may name tools that are data, and lower limits.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.config import SETTINGS, Config, InvalidConfig
from protocols.files import write_whole
from protocols.sources.reading import runs_nothing

PROJECT_FILE = "atc.toml"
_HARMLESS = frozenset({"tools", "docs", "decoding"})
"""What any folder's file may set; of `tools`, sources that run nothing."""
_LIMITS = frozenset(
    {"max_tools", "samples", "max_repairs", "max_calls", "max_tokens", "max_model_calls", "max_seconds", "max_cost"}
)
"""What any folder's file may lower, and not raise."""
_MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file of settings as it was read once. `foreign` says why it may be another user's; empty where it is not."""

    path: Path
    digest: str
    values: Mapping[str, Any]
    foreign: str


def read_settings(path: Path) -> SettingsFile | None:
    """The settings in the file, or None where there is none.

    Raises:
        InvalidConfig: it cannot be read, or is not TOML.
    """
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            content = file.read(_MAX_BYTES + 1) if stat.S_ISREG(status.st_mode) else None
        if content is None or len(content) > _MAX_BYTES:
            raise InvalidConfig(f"cannot read the settings in {path}: it is no text file under 1 MB; remove it.")
        values = tomllib.loads(content.decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidConfig(f"cannot read the settings in {path}: {reason}; fix or remove it.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidConfig(f"{path} is not TOML: {error}; fix that line.") from error
    return SettingsFile(path, hashlib.sha256(content).hexdigest(), values, _foreign(status))


def is_trusted(file: SettingsFile, book: Path) -> bool:
    """Whether the user trusts this file with this content; `book` keeps what the user trusts."""
    return _read_book(book).get(_place(file.path)) == file.digest


def trust(file: SettingsFile, book: Path) -> None:
    """Trust the file until its content changes."""
    _write_book(book, _read_book(book) | {_place(file.path): file.digest})


def untrust(path: Path, book: Path) -> None:
    """Trust the file at `path` no longer."""
    _write_book(book, {place: digest for place, digest in _read_book(book).items() if place != _place(path)})


def refused(file: SettingsFile, below: Config, *, user: Path, book: Path) -> tuple[frozenset[str], str]:
    """The settings that an untrusted file may not decide, and the sentence about them; `below` are those it overrides.

    Nothing is said of a key that is no setting.
    """
    changed = " It has changed since you trusted it." if _place(file.path) in _read_book(book) else ""
    if file.foreign:
        told = (
            f"{file.path} {file.foreign}, so nothing is taken from it. Read it, then 'atc config trust', or remove it."
        )
        return frozenset(file.values), told + changed
    found = {key: what for key, raw in file.values.items() if (what := _beyond(key, raw, below))}
    if not found:
        return frozenset(), ""
    verb, them = ("is", "it") if len(found) == 1 else ("are", "them")
    return frozenset(found), (
        f"{PROJECT_FILE}: {', '.join(found.values())} {verb} not taken from a folder's file, which may be somebody"
        f" else's. Give {them} yourself, as a flag or in {user}, or read {PROJECT_FILE} and trust it as it stands:"
        f" 'atc config trust'.{changed}"
    )


def _beyond(key: str, raw: Any, below: Config) -> str:
    """What of this setting an untrusted file may not decide; empty where it may, or where it is no setting."""
    if key == "tools":
        sources = [raw] if isinstance(raw, str) else raw if isinstance(raw, list) else []
        beyond = [source for source in sources if isinstance(source, str) and not runs_nothing(source)]
        return f"'tools' with {', '.join(map(repr, beyond))} (code, a command, or a place elsewhere)" if beyond else ""
    if key in _LIMITS:
        limit = getattr(below, key) or (1 if key == "samples" else None)  # what is left to the model may be one
        return f"{key!r} above {limit:g}" if limit is not None and isinstance(raw, int | float) and raw > limit else ""
    return repr(key) if key not in _HARMLESS and key in SETTINGS else ""


def _foreign(status: os.stat_result) -> str:
    if status.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    return "can be changed by every user of this machine" if status.st_mode & stat.S_IWOTH else ""


def _place(path: Path) -> str:
    """The path under which a file is trusted. The file itself may be a link: what counts is where it is found."""
    return str(path.parent.resolve() / path.name)


def _read_book(book: Path) -> dict[str, Any]:
    try:
        known = json.loads(book.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write_book(book: Path, known: Mapping[str, Any]) -> None:
    book.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(book, json.dumps(known, indent=1, sort_keys=True) + "\n", mode=0o600)
