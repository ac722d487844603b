"""The `.env` file that a user names: variables for `env:NAME` in the settings, and nothing else."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from atc.core.config import InvalidConfig

_MOST_BYTES = 1_000_000
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)\"""")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(path: Path) -> dict[str, str]:
    """Return the variables of a `.env` file that may be used.

    Lines are `NAME=VALUE`, perhaps after `export` and in quotes. Nothing in a value is replaced.
    Variables that direct programs, such as PATH, are left out.

    Raises:
        InvalidConfig: The file cannot be read, another user can change it, or a line has another
            form. The message shows no value.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(_read_text(path).splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        match = _LINE.fullmatch(text)
        value = _read_value(match[2]) if match else None
        if match is None or value is None:
            raise InvalidConfig(f"env_file: line {number} of {path} is not NAME=VALUE; correct it.")
        if not _directs_programs(match[1]):
            found[match[1]] = value
    return found


def _read_text(path: Path) -> str:
    """Return the text of the file, after checking who can change it."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            status = os.fstat(file.fileno())
            if problem := _problem_of(status):
                raise InvalidConfig(f"env_file: {path} {problem}.")
            return file.read(_MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidConfig(f"env_file: {path} is not UTF-8 text.") from None
    except OSError as error:
        raise InvalidConfig(f"env_file: cannot read {path}: {error.strerror}.") from None


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe would wait for whoever writes


def _problem_of(status: os.stat_result) -> str:
    """Return why a file is not used, as the end of a sentence, or ""."""
    if not stat.S_ISREG(status.st_mode):
        return "is no file"
    if status.st_size > _MOST_BYTES:
        return f"is larger than {_MOST_BYTES:,} bytes"
    if status.st_uid not in (os.geteuid(), 0):
        return "belongs to another user"
    if status.st_mode & stat.S_IWOTH:
        return "can be changed by every user of this machine; chmod o-w it"
    return ""


def _read_value(text: str) -> str | None:
    """Return the value after `NAME=`, or None if its quotes do not end."""
    if text[:1] in ("'", '"'):
        match = _QUOTED.match(text)
        rest = text[match.end() :].strip() if match else ""
        if match is None or (rest and not rest.startswith("#")):
            return None
        if match[1] is not None:
            return match[1]
        return re.sub(r"\\(.)", lambda at: _ESCAPES.get(at[1], at[1]), match[2])
    return re.split(r"\s#|^#", text, maxsplit=1)[0].strip()


def _directs_programs(name: str) -> bool:
    """Return True if a variable says how a program runs or what it reaches, and is no secret."""
    return name.upper().startswith("ATC_") or name.upper() in ("PATH", "OPENAI_BASE_URL")
