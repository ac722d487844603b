"""The files with settings, and which of them the user trusts.

The `atc.toml` in a folder may come from a repository of other people. The user trusts a file at one
path with one content: when either changes, the file must be trusted again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from atc.core.config import InvalidConfig
from protocols.errors import AtcError
from protocols.private_files import (
    CannotWrite,
    NotPrivate,
    check_above,
    is_writable_by_others,
    keep_private,
    make_folders,
    write_whole,
)

PROJECT_FILE = "atc.toml"


def user_config_file() -> Path:
    """Return the path of the user's own settings file, which may not exist."""
    return platformdirs.user_config_path("atc", appauthor=False) / "config.toml"


def project_file(folder: Path) -> Path:
    """Return the absolute path of the `atc.toml` in a folder, which may not exist.

    If the file is a symbolic link, it is the path of the link, because the user trusts that path.
    """
    return folder.resolve() / PROJECT_FILE


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The content of a settings file when it was read."""

    path: Path
    digest: str
    """SHA-256 of the content, in hexadecimal."""
    values: Mapping[str, Any]
    foreign: str
    """Why another user may have written the file, as the end of a sentence; empty if none could."""

    @property
    def is_trusted(self) -> bool:
        """True if the user trusts the file with this content."""
        return read_trusted().get(str(self.path)) == self.digest


def read_file(path: Path) -> SettingsFile | None:
    """Return the settings in the file, or None if there is no file.

    Raises:
        InvalidConfig: The file cannot be read, or is not TOML.
    """
    try:
        content = path.read_bytes()
        status = path.stat()
        values = tomllib.loads(content.decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        reason = "it is not UTF-8 text"
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
        raise InvalidConfig(
            f"cannot read the settings in {path}: {reason}; fix or remove it."
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidConfig(f"{path} is not TOML: {error}; fix that line.") from error
    foreign = ""
    if status.st_uid not in (os.geteuid(), 0):
        foreign = "belongs to another user"
    elif status.st_mode & stat.S_IWOTH:
        foreign = "can be changed by every user of this machine"
    flat = _flatten_store(values)
    return SettingsFile(path, hashlib.sha256(content).hexdigest(), flat, foreign)


def _flatten_store(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings in which the table `[store]` is the settings `store` and `keep_days`."""
    table = values.get("store")
    if not isinstance(table, dict):
        return values
    others = {key: value for key, value in values.items() if key != "store"}
    return others | {"store" if key == "address" else key: value for key, value in table.items()}


def read_own() -> SettingsFile | None:
    """Return the content of the user's own settings file, or None if there is no such file.

    Raises:
        InvalidConfig: Another user can change or replace the file, it cannot be read, or it is not
            TOML.
    """
    own = read_file(user_config_file())
    if own is None:
        return None
    try:
        check_above(own.path.absolute())
    except NotPrivate as error:
        raise InvalidConfig(f"your settings are not yours alone: {error}") from error
    foreign = own.foreign
    if not foreign and is_writable_by_others(own.path.stat()):
        foreign = "can be changed by the users of its group"
    if foreign:
        place = shlex.quote(str(own.path.resolve()))
        raise InvalidConfig(
            f"your settings in {str(own.path)!r}: the file {foreign}. Read it, and if it says what"
            f" you want, repair it with: chown {os.geteuid()} {place} && chmod go-w {place}"
        )
    return own


def change_own(edit: Callable[[str], str]) -> Path:
    """Change the text of the user's own settings file by `edit`, and return the path of the file.

    A missing file counts as empty. If the file is a symbolic link, the file to which it leads is
    changed. Two processes change it one after the other.

    Raises:
        InvalidConfig: Another user can change or replace the file, it cannot be read or written, it
            is not TOML, or another program changed it meanwhile. Nothing is written then.
    """
    path = user_config_file().absolute()
    try:
        make_folders(path.parent)
        with _locked(path.parent):
            check_above(path)
            read_own()
            before = _read_bytes(path)
            after = edit(before.decode("utf-8"))
            if _read_bytes(path) != before:
                raise InvalidConfig(
                    f"another program has just changed {path}, so nothing was written; read it, and"
                    " give the command again."
                )
            write_whole(path.resolve(), after)
    except NotPrivate as error:
        raise InvalidConfig(f"your settings are not yours alone: {error}") from error
    except (CannotWrite, OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        cause = error.__cause__ if isinstance(error, AtcError) else error
        reason = getattr(cause, "strerror", None) or str(error)
        raise InvalidConfig(
            f"cannot write your settings to {path}: {reason}; make its folder writable, or set"
            " XDG_CONFIG_HOME to another one."
        ) from error
    return path


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Within the block, keep other processes of atc from changing the settings in the folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read_bytes(path: Path) -> bytes:
    """Return the content of a file, which is empty if there is no file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def trust(path: Path, digest: str | None) -> None:
    """Record that the user trusts the file at `path` while its content has this SHA-256 `digest`.

    If `digest` is None, record that the user no longer trusts the file.
    """
    known = read_trusted()
    known.pop(str(path), None)
    if digest is not None:
        known[str(path)] = digest
    write_whole(_trust_book(), json.dumps(known, indent=1, sort_keys=True) + "\n")


def _trust_book() -> Path:
    """Return the path of the file in which atc stores which settings files the user trusts."""
    return user_config_file().with_name("trusted.json")


def read_trusted() -> dict[str, str]:
    """Return the SHA-256 digests of the files that the user trusts, keyed by path.

    Raises:
        NotPrivate: The file with this list is a link, or another user owns it or can replace it.
    """
    keep_private(_trust_book())
    check_above(_trust_book().absolute())
    try:
        known: dict[str, str] = json.loads(_trust_book().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known
