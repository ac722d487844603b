"""`atc config set` and `unset`: change the user's own settings file, and no other file."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import click

from atc.cli.options import Verb
from atc.cli.output import print_result, say
from atc.cli.setting_keys import check_argument, is_secret, read_key, read_value_text, typed_value
from atc.cli.toml_edit import CannotEdit, KeyPath, remove_value, set_value
from atc.core.config import TABLES, InvalidConfig
from atc.core.keyring_secrets import write_keyring
from atc.core.setting_types import SECRET_PLACES
from atc.settings.files import change_own, read_own, user_config_file
from atc.settings.reading import check_own, read_settings
from protocols.errors import AtcError

_PIPED = "-"


@dataclass(frozen=True, slots=True)
class _Change:
    """A setting to write. `path` is that of its key, and `value` what the user gave."""

    key: str
    path: KeyPath
    value: Any
    piped: bool = False
    """True if the value was given on stdin."""


@click.command(
    "set",
    cls=Verb,
    examples=[
        "atc config set max_calls 50",
        "atc config set credentials.crm.hosts crm.example.org credentials.crm.value env:CRM_TOKEN",
        "pass crm | atc config set credentials.crm.value -",
    ],
)
@click.argument("pairs", nargs=-1, required=True, metavar="KEY VALUE [KEY VALUE]...")
@click.option(
    "--keyring", is_flag=True, help="Put the secret from stdin into the keyring, not into the file."
)
def set_(pairs: tuple[str, ...], *, keyring: bool) -> None:
    """Write settings into your own settings file. Only you can read the file.

    With the value '-', it is read from stdin, or asked for on a terminal. A secret is never taken
    from the command line: give '-', or where it is, as env:NAME, file:PATH or keyring:NAME. In a
    list, commas separate the items. The atc.toml of a folder is not changed, nor trusted.
    """
    changes = _read_changes(pairs)
    if keyring:
        changes = [_for_keyring(change) if change.piped else change for change in changes]
    path = change_own(lambda text: _apply(text, changes))
    values = {change.key: _mask_secret(change) for change in changes}
    print_result({"file": str(path), "set": values})
    say(f"Written to {path}: {', '.join(values)}.")
    _say_overridden(changes)


@click.command("unset", cls=Verb, examples=["atc config unset max_calls"])
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
def unset(keys: tuple[str, ...]) -> None:
    """Remove settings from your own settings file, so that the defaults hold.

    KEY may also be a whole table, such as credentials.crm. A secret in the keyring stays there.
    """
    path = change_own(lambda text: _remove(text, keys))
    print_result({"file": str(path), "unset": list(keys)})
    say(f"Removed from {path}: {', '.join(keys)}.")


def _read_changes(pairs: Sequence[str]) -> list[_Change]:
    """Return the settings that the command line asks for.

    Raises:
        click.UsageError: A value or setting is missing or wrong, or a secret is on the command
            line.
    """
    if len(pairs) % 2:
        raise click.UsageError(
            f"{pairs[-1]!r} has no value; give each KEY a VALUE, or '-' for one on stdin"
        )
    given = [(key, read_key(key), text) for key, text in zip(pairs[::2], pairs[1::2], strict=True)]
    if len({path for _, path, _ in given}) < len(given):
        raise click.UsageError("a setting is given twice; give each of them once")
    if sum(text == _PIPED for _, _, text in given) > 1:
        raise click.UsageError("only one value can be '-'; set the others by another command")
    changes = []
    for key, path, text in given:
        piped = text == _PIPED
        if piped:
            text = _read_piped(key, secret=is_secret(path))
        else:
            check_argument(key, path, text)
        changes.append(_Change(key, path, read_value_text(key, path, text), piped))
    return changes


def _read_piped(key: str, *, secret: bool) -> str:
    """Return the value on stdin, one line. On a terminal, ask for it; a secret is not echoed.

    Raises:
        click.UsageError: There is no value, or it has more than one line.
    """
    if sys.stdin is None:
        raise click.UsageError(f"stdin is closed, so there is no value for {key}")
    if sys.stdin.isatty():
        typed: str = click.prompt(key, hide_input=secret, err=True)
        return typed
    try:
        text = sys.stdin.read()
    except UnicodeDecodeError as error:
        raise click.UsageError(f"the value of {key} on stdin is not UTF-8 text") from error
    value = text.rstrip("\r\n")
    if not value.strip():
        raise click.UsageError(f"stdin is empty, so there is no value for {key}")
    if any(ord(character) < 32 for character in value):
        raise click.UsageError(f"the value of {key} on stdin must be one line of text")
    return value


def _for_keyring(change: _Change) -> _Change:
    """Put a secret from stdin into the keyring, and return the change that refers to it.

    Raises:
        click.UsageError: The value is no secret.
        InvalidConfig: The keyring cannot be used.
    """
    if not is_secret(change.path):
        raise click.UsageError(f"--keyring is for secrets, and {change.key} is none")
    name = ".".join(change.path)
    write_keyring(change.key, name, change.value)
    return _Change(change.key, change.path, f"keyring:{name}")


def _apply(text: str, changes: Sequence[_Change]) -> str:
    """Return the text of the settings file with the changes, which are checked as it is read.

    Raises:
        InvalidConfig: A setting does not accept its value, or stands in a form that cannot be
            changed.
    """
    values = tomllib.loads(text)
    wanted = deepcopy(values)
    for change in changes:
        _set_in_document(wanted, change)
    changed = {change.path[0]: wanted[change.path[0]] for change in changes}
    touched = {change.path[:2] for change in changes}
    try:
        config = check_own(values, _only(changed, touched))
    except InvalidConfig as error:
        if all(len(change.path) == 1 for change in changes):
            raise
        # `credentials.NAME` needs a value and hosts, which are given one after the other elsewhere.
        whole = "what a table must have is given in one command."
        raise InvalidConfig(f"{str(error).rstrip('.')}; {whole}") from None
    for change in changes:
        try:
            text = set_value(text, change.path, typed_value(config, change.path))
        except CannotEdit:
            raise InvalidConfig(_by_hand(change.key)) from None
    return text


def _set_in_document(document: dict[str, Any], change: _Change) -> None:
    """Set the value of a change in the content of the settings file."""
    for name in change.path[:-1]:
        document = document.setdefault(name, {})
        if not isinstance(document, dict):
            raise InvalidConfig(_by_hand(change.key))
    document[change.path[-1]] = change.value


def _only(changed: Mapping[str, Any], touched: set[KeyPath]) -> dict[str, Any]:
    """Return the changed settings, of a table only the entries that a change touches."""
    return {
        key: {name: one for name, one in value.items() if (key, name) in touched}
        if key in TABLES
        else value
        for key, value in changed.items()
    }


def _remove(text: str, keys: Sequence[str]) -> str:
    """Return the text of the settings file without these settings.

    Raises:
        InvalidConfig: One is not in the file, or what is left would not be valid.
    """
    was_valid = False
    with suppress(InvalidConfig):  # what is wrong may be what is to be removed
        check_own(tomllib.loads(text), {})
        was_valid = True
    for key in keys:
        text = _remove_one(text, key)
    if was_valid:
        check_own({}, tomllib.loads(text))
    return text


def _remove_one(text: str, key: str) -> str:
    """Return the text without one setting, which may be unknown, or a whole table."""
    plain = tuple(key.replace('"', "").split("."))
    paths = [plain, (plain[0], ".".join(plain[1:])) if len(plain) > 1 else plain]
    with suppress(click.UsageError):
        paths.insert(0, read_key(key))
    for path in paths:
        try:
            return remove_value(text, path)
        except KeyError:
            continue
        except CannotEdit:
            raise InvalidConfig(_by_hand(key)) from None
    raise InvalidConfig(
        f"{user_config_file()} does not set {key!r}; 'atc config show' shows where it comes from."
    )


def _by_hand(key: str) -> str:
    """Return a sentence about a setting that only a person can change."""
    return (
        f"{user_config_file()} has {key!r} in a form that atc cannot change; change it in an"
        " editor."
    )


def _mask_secret(change: _Change) -> Any:
    """Return the value of a setting as it may be shown: a secret becomes `***`."""
    if is_secret(change.path) and not str(change.value).startswith(SECRET_PLACES):
        return "***"
    return change.value


def _say_overridden(changes: Sequence[_Change]) -> None:
    """Say which of the settings are not in force here, since something overrides the file."""
    origins: Mapping[str, str] = {}
    with suppress(AtcError):  # the settings of this folder may be wrong
        origins = read_settings()[1]
    own = read_own()
    for change in changes:
        key = ".".join(change.path[:2])
        origin = origins.get(key, "")
        if own is not None and origin not in ("", str(user_config_file())):
            say(f"Here, {origin} overrides {key}.")
