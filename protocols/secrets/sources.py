"""Secrets in the address or command of a source: they go to its server, and are shown nowhere."""

from __future__ import annotations

import re
from urllib.parse import unquote, unquote_plus

from protocols.secrets import texts as secret_texts
from protocols.secrets.names import looks_random, secret_kind
from protocols.secrets.values import is_not_word

MASK = "***"
_ADDRESS = re.compile(r"(?:https?|wss?|ftp)://[^\s\"'<>]+", re.IGNORECASE)
_PARAMETER = re.compile(r"(?:^|[?&;#])([^=&;#?]*)=([^&;#]*)")
_LONG_STEP = 20
_LONG_VALUE = 12
"""Characters of a step of a path, and of a parameter's value, from which it may be a secret whatever its name."""


def secrets_in(source: str) -> list[str]:
    """The secrets of a source as they stand in its text, and decoded, the longest first."""
    found = set(secret_texts.find_text_secrets(source))
    for address in _ADDRESS.findall(source):
        found.update(_find_in_address(address))
    found |= {unquote_plus(one) for one in found} | {unquote(one) for one in found}
    return sorted((one for one in found if one.strip()), key=lambda one: (-len(one), one))


def mask_source(source: str) -> str:
    """A source, or a sentence with its address, with `***` for each secret."""
    if not _ADDRESS.search(source) and not source.startswith("mcp:") and "=mcp:" not in source:
        return source
    for secret in secrets_in(source):
        source = source.replace(secret, MASK)
    return source


def _find_in_address(address: str) -> list[str]:
    rest, _, fragment = address.partition("#")
    before, _, query = rest.partition("?")
    place, _, path = before.partition("://")[2].partition("/")
    user, at, _ = place.rpartition("@")
    found = [part for part in user.split(":", 1) if part] if at else []
    found += [value for name, value in _PARAMETER.findall(query) if _is_secret(name, value)]
    named = _PARAMETER.findall(fragment)
    found += [value for name, value in named if _is_secret(name, value)]
    found += (
        [fragment] if not named and len(fragment) >= _LONG_VALUE and is_not_word(fragment) else []
    )
    steps = re.split("[/;=]", path)
    return found + [step for step in steps if len(step) >= _LONG_STEP and looks_random(step)]


def _is_secret(name: str, value: str) -> bool:
    """True if a parameter is named as a secret, or has a long value that is no word."""
    return bool(value) and (
        secret_kind(name) is not None or (len(value) >= _LONG_VALUE and is_not_word(value))
    )
