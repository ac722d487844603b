"""Which values are secrets, by schema, by name and by what they look like; and the placeholders that stand for them.

A schema marks a place by `writeOnly: true`, `format: password` or `x-atc-secret: true`; `x-atc-secret: false` says that
a place is none, whatever its name. Names count also where a schema is missing or open.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from protocols import secret_texts
from protocols.reply import parse
from protocols.schema import Json, JsonObject, combined, inside
from protocols.secret_names import is_secret, kind_of
from protocols.words import words

Change = Callable[[Json], Json]

# --- places of a value

_MOST_VIEWS = 500  # schemas that describe one place at once
_CARRIERS = words("current data plaintext raw text value")
_NAMING = ("name", "key", "variable", "var", "header", "field", "param")
_MAPS = words("cookies passwords secrets")


def covered(value: Json, schema: JsonObject | None, cover: Change, *, rest: Change | None = None) -> Json:
    """`value` with `cover(leaf)` for each secret string or number, and `rest(…)` for each other leaf and each key.

    Visited in the value's order.
    """
    plain: Change = rest or (lambda leaf: leaf)

    def node(value: Json, place: _Place, name: str, *, marked: bool) -> Json:
        """A value whose place is called `name`; `marked` when a schema above it says that all in it is secret."""
        inside = marked if place.said is None else place.said
        if isinstance(value, Mapping):
            return {
                plain(key): node(item, place.child(key), _name(key, value, name), marked=inside)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            inner = "" if place.said is False else name
            return [node(item, place.child(i), inner, marked=inside) for i, item in enumerate(value)]
        if value is None or isinstance(value, bool) or value == "" or place.said is False:
            return plain(value)
        # A listed value is known to all who read it.
        return cover(value) if inside or (not place.listed and is_secret(name, value)) else plain(value)

    return node(value, _Place((schema,), schema or {}), "", marked=False)


def may_name_secrets(name: str) -> bool:
    """Whether what stands under a name may be judged a secret for it, or for a name beside or above it."""
    return kind_of(name) is not None or name.lower() == "value" or name.lower() in _MAPS


class _Place:
    """One place of a value: all schemas that describe it, and what they say. Those of its parts are made when met."""

    def __init__(self, schemas: Iterable[Any], root: JsonObject) -> None:
        self.root, self.views = root, combined(schemas, root, most=_MOST_VIEWS)
        self.listed = any("enum" in view or "const" in view for view in self.views)
        marks = [view["x-atc-secret"] for view in self.views if isinstance(view.get("x-atc-secret"), bool)]
        self.said: bool | None = any(marks) if marks else any(map(_mark, self.views)) or None
        """What the schemas declare; None where they declare nothing."""
        self._firsts = max((len(view.get("prefixItems", ())) for view in self.views), default=0)
        self._parts: dict[str | int, _Place] = {}

    def child(self, key: str | int) -> _Place:
        """The place under a key of an object, or of a list's element."""
        if not self.views:
            return self
        key = key if isinstance(key, str) else min(key, self._firsts)
        if key not in self._parts:
            self._parts[key] = _Place(inside(self.views, key), self.root)
        return self._parts[key]


def _mark(schema: JsonObject) -> bool:
    """Whether a schema says that what it describes is a secret."""
    marked = schema.get("writeOnly") is True or schema.get("x-atc-secret") is True
    return marked or schema.get("format") == "password"


def _name(key: str, beside: JsonObject, above: str) -> str:
    """By what name the value under `key` is to be judged: its own, or that which it is a carrier of.

    So `{"token": {"value": …}}`, `{"name": "Authorization", "value": …}` and `{"secrets": {"DB_URL": …}}`.
    """
    if kind_of(key) is not None:
        return key
    for said in map(beside.get, _NAMING) if key.lower() == "value" else ():
        if isinstance(said, str) and re.fullmatch(r"[\w.\-]+", said) and kind_of(said):
            return said
    if key.lower() in _CARRIERS and kind_of(above) is not None:
        return above
    if above.lower() in _MAPS and all(isinstance(item, str) for item in beside.values()):
        return above
    return key


# --- secrets within texts

_LONGEST_JSON = 1_000_000  # characters of a text that is looked at as JSON


def within(text: str) -> Iterator[str]:
    """Secrets that stand in a text: those of `protocols.secret_texts`, and what its JSON holds where it is JSON."""
    yield from secret_texts.find(text)
    if text[:100].lstrip()[:1] in ("{", "[") and len(text) <= _LONGEST_JSON:
        try:
            inner = parse(text)
        except ValueError:
            return
        yield from (value for value in secrets_of(inner, None) if isinstance(value, str))


_SCHEME = re.compile(r"(?:ApiKey|Basic|Bearer|Digest|Token)\s+([^\s,]{6,})", re.IGNORECASE)
_COOKIE_ATTRIBUTES = frozenset({"domain", "expires", "max-age", "path", "priority", "samesite"})
_COOKIE = re.compile(r"(?:^|;\s*)([^=;\s]+)=([^;\s]{8,})")


def with_parts(secret: Json) -> list[Json]:
    """A secret, and what of it is one by itself: the token after `Bearer`, the values of a cookie."""
    if not isinstance(secret, str):
        return [secret]
    scheme = _SCHEME.fullmatch(secret.strip())
    values = [value for name, value in _COOKIE.findall(secret) if name.lower() not in _COOKIE_ATTRIBUTES]
    return list(dict.fromkeys([secret, *([scheme[1]] if scheme else []), *values, *within(secret)]))


def secrets_of(value: Json, schema: JsonObject | None) -> list[Json]:
    """The secrets of a JSON value, in its order, with their parts and with those that stand in its texts."""
    found: list[Json] = []

    def rest(leaf: Json) -> Json:
        found.extend(within(leaf) if isinstance(leaf, str) else ())
        return leaf

    covered(value, schema, lambda leaf: found.extend(with_parts(leaf)), rest=rest)
    return found


# --- placeholders

PLACEHOLDER = re.compile(r"\[redacted-(?:str|int|float)-\d+-[a-z]?\d[\d.]*\]")
"""Plain ASCII without quotes, spaces or backslashes: it is the same in JSON, in a Python literal and in a log line."""
_THE_SAME = re.compile(r"[A-Za-z0-9_.\-]+")  # characters that nothing escapes
_UNSAFE = re.compile(r"[^A-Za-z0-9_.\- @:/+,!$&?~]")
_MASKS = re.compile(
    r"\s*([*•●·.#_\-])\1*\s*|x+|X+|[<\[({*]*(?:redacted|masked|hidden|filtered|removed)[>\])}*]*", re.IGNORECASE
)


def placeholder(value: str | float, mark: str) -> str:
    """`[redacted-str-24-0.3.1]`: type and length of a secret; `mark` tells it from the others of its run."""
    return f"[redacted-{type(value).__name__}-{len(str(value))}-{mark}]"


def in_literal(text: str) -> str:
    """`text` as it can stand within the quotes of a Python literal or a JSON string, whatever is in it."""
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}" if ord(found[0]) < 0x10000 else found[0], text)


def conceals_nothing(text: str) -> bool:
    """Whether what stands in a secret's place is blank, a mask (`***`, `[hidden]`) or a placeholder."""
    return not text.strip() or bool(PLACEHOLDER.fullmatch(text) or _MASKS.fullmatch(text))


def spellings(text: str) -> set[str]:
    """The ways in which a text may stand in another one: in JSON, a URL, HTML, a Python literal, on one line."""
    if _THE_SAME.fullmatch(text):
        return {text}
    escaped = quote(text, safe="", errors="surrogatepass")
    in_json = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    return {
        text,
        *in_json,
        *(json.dumps(inner)[1:-1] for inner in in_json),  # JSON within JSON
        repr(text)[1:-1],
        in_literal(text),
        text.replace("'", "\\'"),
        text.replace("'", "'\"'\"'"),  # as a shell's single quotes hold it
        escaped,
        re.sub("%..", lambda found: found[0].lower(), escaped),
        quote(text, errors="surrogatepass"),
        quote_plus(text, errors="surrogatepass"),
        html.escape(text),
        html.escape(text, quote=False),
        " ".join(text.split()),
    }
