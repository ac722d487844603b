"""Secrets that no field of their own holds: within a text, and parts of a secret that are one by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote_plus

from protocols.jsontypes import Json, JsonObject
from protocols.reply import parse
from protocols.secrecy import covered, marks_secrets, names_secrets
from protocols.secret_names import fits, kind_of

_LONGEST_JSON = 1_000_000  # characters of a text that is looked at as JSON
_SHORTEST_ASSIGNED, _SHORTEST_FORMAT = 6, 15
_SIGNED = frozenset({"sig", "signature", "x-amz-security-token", "x-amz-signature", "x-goog-signature"})
_COOKIE_ATTRIBUTES = frozenset({"domain", "expires", "max-age", "path", "priority", "samesite"})

_UNMISTAKABLE = re.compile(
    r"""-----BEGIN\ [A-Z ]{0,80}PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]{0,80}PRIVATE\ KEY-----|\Z)
    | \b(?:gh[opsu]_\w{30,} | ghr_\w{30,} | github_pat_\w{30,} | glpat-[\w-]{20,} | hf_\w{30,} | npm_\w{36}
        | xox[abeprs]-[\w-]{10,} | [rs]k_(?:live|test)_\w{16,} | sk-[\w-]{20,} | AIza[\w-]{35} | pypi-[\w-]{50,})
    """,
    re.VERBOSE | re.DOTALL,
)
"""Formats that only credentials have."""
# Tried once for each run of these characters, and only where the two other parts follow: it takes linear time.
_JWT = re.compile(
    r"(?<![\w-])(?=[\w-]++\.eyJ[\w-]{8,}+\.[\w-]{8})(?:[\w-]*?-)??(eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{8,}+)"
)
_SCHEME = re.compile(r"(?:ApiKey|Basic|Bearer|Digest|Token)\s+([^\s,]{6,})", re.IGNORECASE)
_USERINFO = re.compile(r"://[^\s/:@?#]*:([^\s/@?#]+)@")
_ASSIGNED = re.compile(r"(?<![\w.\-])([A-Za-z_][\w.\-]{0,60})=([^\s&;#\"'<>,]+)")
_COOKIE = re.compile(r"(?:^|;\s*)([^=;\s]+)=([^;\s]{8,})")


def within(text: str) -> Iterator[str]:
    """Secrets that stand in a text: in a format that only they have, in a URL, in `name=value`, in JSON."""
    if len(text) >= _SHORTEST_FORMAT:
        yield from (found[0] for found in _UNMISTAKABLE.finditer(text))
        yield from (found[1] for found in _JWT.finditer(text))
    if "://" in text:
        yield from (unquote_plus(found[1]) for found in _USERINFO.finditer(text))
    for name, raw in _ASSIGNED.findall(text) if "=" in text else ():
        value, kind = unquote_plus(raw), kind_of(name)
        if len(value) >= _SHORTEST_ASSIGNED and (name.lower() in _SIGNED or (kind and fits(kind, value))):
            yield value
    if text[:100].lstrip()[:1] in ("{", "[") and len(text) <= _LONGEST_JSON:
        try:
            inner = parse(text)
        except ValueError:
            return
        yield from (value for value in secrets_of(inner, None) if isinstance(value, str))


def with_parts(secret: Json) -> list[Json]:
    """A secret, and what of it is one by itself: the token after `Bearer`, the values of a cookie."""
    if not isinstance(secret, str):
        return [secret]
    scheme = _SCHEME.fullmatch(secret.strip())
    values = [value for name, value in _COOKIE.findall(secret) if name.lower() not in _COOKIE_ATTRIBUTES]
    return list(dict.fromkeys([secret, *([scheme[1]] if scheme else []), *values, *within(secret)]))


def may_hold(value: Json, schema: JsonObject | None) -> bool:
    """Whether a JSON value may hold a secret: a quick look at its names and texts, for nearly every one holds none."""
    names: set[str] = set()
    texts: list[str] = []
    left: list[Json] = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, Mapping):
            names.update(item)
            left.extend(item.values())
        elif isinstance(item, list | tuple):
            left.extend(item)
    if any(map(names_secrets, names)) or marks_secrets(schema):
        return True
    if any(text[:100].lstrip()[:1] in ("{", "[") for text in texts):
        return True
    together = "\n".join([*names, *texts])
    if _UNMISTAKABLE.search(together) or _JWT.search(together) or _USERINFO.search(together):
        return True
    return "=" in together and any(name.lower() in _SIGNED or kind_of(name) for name, _ in _ASSIGNED.findall(together))


def secrets_of(value: Json, schema: JsonObject | None) -> list[Json]:
    """The secrets of a JSON value, in its order, with their parts and with those that stand in its texts."""
    if not may_hold(value, schema):
        return []
    found: list[Json] = []

    def cover(leaf: Json) -> Json:
        found.extend(with_parts(leaf))
        return leaf

    def rest(leaf: Json) -> Json:
        if isinstance(leaf, str):
            found.extend(within(leaf))
        return leaf

    covered(value, schema, cover, rest=rest)
    return found
