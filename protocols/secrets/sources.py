"""Finds and masks secrets in the address or command of a tool source.

Such secrets are sent to the source's server, but never displayed.
"""

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
"""Minimum lengths of a path segment (`_LONG_STEP`) and of a parameter's value (`_LONG_VALUE`) that
may be secrets although no name says so.
"""


def secrets_in(source: str) -> list[str]:
    """Return the secrets in the address or command of a tool source, the longest first.

    Each secret is returned as it is spelled there, and also URL-decoded.
    """
    found = set(secret_texts.find_text_secrets(source))
    for address in _ADDRESS.findall(source):
        found.update(_find_in_address(address))
    found |= {unquote_plus(one) for one in found} | {unquote(one) for one in found}
    return sorted((one for one in found if one.strip()), key=lambda one: (-len(one), one))


def mask_source(source: str) -> str:
    """Return the address or command of a tool source with `***` in place of each secret.

    `source` may also be a sentence that contains the address.
    """
    if not _ADDRESS.search(source) and not source.startswith("mcp:") and "=mcp:" not in source:
        return source
    for secret in secrets_in(source):
        source = source.replace(secret, MASK)
    return source


def _find_in_address(address: str) -> list[str]:
    """Return the secrets of a URL.

    These are user and password, secret parameters, and path segments that look random.
    """
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
    """Return True if a URL parameter is a secret.

    It has the name of a secret, or a long value that is not a word.
    """
    return bool(value) and (
        secret_kind(name) is not None or (len(value) >= _LONG_VALUE and is_not_word(value))
    )
