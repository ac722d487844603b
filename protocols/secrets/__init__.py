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

from protocols.response import parse_json
from protocols.schema import Json, JsonObject, expand_combinations, iter_member_schemas
from protocols.secrets import texts as secret_texts
from protocols.secrets.names import secret_kind
from protocols.secrets.pairs import MAPS, ValueName, iter_item_names, iter_member_names
from protocols.secrets.values import is_not_word

Change = Callable[[Json], Json]

# --- places of a value

_MOST_VIEWS = 500  # schemas that describe one place at once


def replace_secrets(
    value: Json, schema: JsonObject | None, cover: Change, *, rest: Change | None = None
) -> Json:
    """`value` with `cover(leaf)` for each secret string or number, and `rest(…)` for each other leaf and each key.

    Visited in the value's order.
    """
    plain: Change = rest or (lambda leaf: leaf)

    def node(value: Json, place: _ValuePlace, name: ValueName, *, marked: bool) -> Json:
        """A value whose place is called `name`; `marked` when a schema above it says that all in it is secret."""
        inside = marked if place.said is None else place.said
        if isinstance(value, Mapping):
            names = iter_member_names(value, name)
            return {
                plain(key): node(item, place.child(key), own, marked=inside)
                for (key, item), own in zip(value.items(), names, strict=True)
            }
        if isinstance(value, list | tuple):
            names = iter_item_names(value, ValueName() if place.said is False else name)
            return [
                node(item, place.child(i), own, marked=inside)
                for i, (item, own) in enumerate(zip(value, names, strict=True))
            ]
        if value is None or isinstance(value, bool) or value == "" or place.said is False:
            return plain(value)
        # A listed value is known to all who read it.
        return (
            cover(value)
            if inside or (not place.listed and name.is_secret_value(value))
            else plain(value)
        )

    return node(value, _ValuePlace((schema,), schema or {}), ValueName(), marked=False)


def may_name_secrets(name: str) -> bool:
    """Whether what stands under a name may be judged a secret for it, or for a name beside or above it."""
    return secret_kind(name) is not None or name.lower() == "value" or name.lower() in MAPS


class _ValuePlace:
    """One place of a value: all schemas that describe it, and what they say. Those of its parts are made when met."""

    def __init__(self, schemas: Iterable[Any], root: JsonObject) -> None:
        self.root = root
        self.views = expand_combinations(schemas, root, most=_MOST_VIEWS)
        self.listed = any("enum" in view or "const" in view for view in self.views)
        marks = [
            view["x-atc-secret"]
            for view in self.views
            if isinstance(view.get("x-atc-secret"), bool)
        ]
        self.said: bool | None = (
            any(marks) if marks else any(map(_is_marked_secret, self.views)) or None
        )
        """What the schemas declare; None where they declare nothing."""
        self._firsts = max((len(view.get("prefixItems", ())) for view in self.views), default=0)
        self._parts: dict[str | int, _ValuePlace] = {}

    def child(self, key: str | int) -> _ValuePlace:
        """The place under a key of an object, or of a list's element."""
        if not self.views:
            return self
        key = key if isinstance(key, str) else min(key, self._firsts)
        if key not in self._parts:
            self._parts[key] = _ValuePlace(iter_member_schemas(self.views, key), self.root)
        return self._parts[key]


def _is_marked_secret(schema: JsonObject) -> bool:
    """Whether a schema says that what it describes is a secret."""
    marked = schema.get("writeOnly") is True or schema.get("x-atc-secret") is True
    return marked or schema.get("format") == "password"


# --- secrets within texts

_LONGEST_JSON = 1_000_000  # characters of a text that is looked at as JSON


def find_embedded_secrets(text: str) -> Iterator[str]:
    """Secrets that stand in a text: those of `protocols.secrets.texts`, and what its JSON holds where it is JSON."""
    yield from secret_texts.find_text_secrets(text)
    if text[:100].lstrip()[:1] in ("{", "[") and len(text) <= _LONGEST_JSON:
        try:
            inner = parse_json(text)
        except ValueError:
            return
        yield from (value for value in secrets_of(inner, None) if isinstance(value, str))


_SCHEME = re.compile(r"(?:ApiKey|Basic|Bearer|Digest|Token)\s+([^\s,]{6,})", re.IGNORECASE)
_LOGIN = re.compile(r"[\w.@+-]{1,100}:([^\s:/]{6,500})")
_COOKIE_ATTRIBUTES = frozenset({"domain", "expires", "max-age", "path", "priority", "samesite"})
_COOKIE = re.compile(r"(?:^|;\s*)([^=;\s]+)=([^;\s]{8,})")


def secret_with_parts(secret: Json) -> list[Json]:
    """A secret, and what of it is one by itself: the token after `Bearer`, the password after a user, cookies."""
    if not isinstance(secret, str):
        return [secret]
    scheme = _SCHEME.fullmatch(secret.strip())
    values = [
        value for name, value in _COOKIE.findall(secret) if name.lower() not in _COOKIE_ATTRIBUTES
    ]
    login = _LOGIN.fullmatch(secret)
    parts = [
        found[1]
        for found in (scheme, login)
        if found is not None and (found is scheme or is_not_word(found[1]))
    ]
    return list(dict.fromkeys([secret, *parts, *values, *find_embedded_secrets(secret)]))


def secrets_of(value: Json, schema: JsonObject | None) -> list[Json]:
    """The secrets of a JSON value, in its order, with their parts and with those that stand in its texts."""
    found: list[Json] = []

    def rest(leaf: Json) -> Json:
        found.extend(find_embedded_secrets(leaf) if isinstance(leaf, str) else ())
        return leaf

    replace_secrets(value, schema, lambda leaf: found.extend(secret_with_parts(leaf)), rest=rest)
    return found


# --- placeholders

PLACEHOLDER = re.compile(r"\[redacted-(?:str|int|float)-\d+-[a-z]?\d[\d.]*\]")
"""Plain ASCII without quotes, spaces or backslashes: it is the same in JSON, in a Python literal and in a log line."""
_THE_SAME = re.compile(r"[A-Za-z0-9_.\-]+")  # characters that nothing escapes
_UNSAFE = re.compile(r"[^A-Za-z0-9_.\- @:/+,!$&?~]")
_MASKS = re.compile(
    r"\s*([*•●·.#_\-])\1*\s*|x+|X+|[<\[({*]*(?:redacted|masked|hidden|filtered|removed)[>\])}*]*",
    re.IGNORECASE,
)


def placeholder(value: str | float, mark: str) -> str:
    """`[redacted-str-24-0.3.1]`: type and length of a secret; `mark` tells it from the others of its run."""
    return f"[redacted-{type(value).__name__}-{len(str(value))}-{mark}]"


def escape_for_literal(text: str) -> str:
    """`text` as it can stand within the quotes of a Python literal or a JSON string, whatever is in it."""
    return _UNSAFE.sub(
        lambda found: f"\\u{ord(found[0]):04x}" if ord(found[0]) < 0x10000 else found[0], text
    )


def is_blank_or_mask(text: str) -> bool:
    """Whether what stands in a secret's place is blank, a mask (`***`, `[hidden]`) or a placeholder."""
    return not text.strip() or bool(PLACEHOLDER.fullmatch(text) or _MASKS.fullmatch(text))


def encoded_forms(text: str) -> set[str]:
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
        escape_for_literal(text),
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
