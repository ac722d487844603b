"""Finds secrets in JSON values and texts, and creates the placeholders that replace them.

A value is a secret because its schema marks it, because its name says so (`password`), or because
it has the format of a credential. A schema marks a value as secret with `writeOnly: true`, `format:
password` or `x-atc-secret: true`. With `x-atc-secret: false` it is not secret, whatever its name.
Names also count if the schema is missing or incomplete.

"Leaf" means a JSON value that is neither a list nor an object.
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

# --- secrets of a JSON value
_MOST_VIEWS = 500  # schemas that describe one value at once


def replace_secrets(
    value: Json, schema: JsonObject | None, cover: Change, *, rest: Change | None = None
) -> Json:
    """Return a copy of `value` in which each secret leaf is replaced by `cover(leaf)`.

    `schema` describes `value`; it is None if it is not known. If `rest` is given, every other leaf
    and every key is replaced by `rest(leaf)`. Leaves are visited in the order of the value.
    """
    plain: Change = rest or (lambda leaf: leaf)

    def node(value: Json, place: _ValuePlace, name: ValueName, *, marked: bool) -> Json:
        """Return a copy of one part of the value, with its secrets replaced.

        `name` decides whether its leaves are secrets. `marked` is True if the schema of a
        surrounding object or list marks all of it as secret. `place` has the schemas of this part.
        """
        inside = marked if place.declared is None else place.declared
        if isinstance(value, Mapping):
            names = iter_member_names(value, name)
            return {
                plain(key): node(item, place.child(key), own, marked=inside)
                for (key, item), own in zip(value.items(), names, strict=True)
            }
        if isinstance(value, list | tuple):
            names = iter_item_names(value, ValueName() if place.declared is False else name)
            return [
                node(item, place.child(i), own, marked=inside)
                for i, (item, own) in enumerate(zip(value, names, strict=True))
            ]
        if not _can_be_secret(value, place):
            return plain(value)
        return cover(value) if inside or place.is_secret_by_name(name, value) else plain(value)

    return node(value, _ValuePlace((schema,), schema or {}), ValueName(), marked=False)


def _can_be_secret(leaf: Json, place: _ValuePlace) -> bool:
    """Return False if a leaf, a value that is no list or object, is certainly no secret.

    This is so for empty texts, booleans and null, and if a schema declares it.
    """
    is_empty = leaf is None or isinstance(leaf, bool) or leaf == ""
    return not is_empty and place.declared is not False


def may_name_secrets(name: str) -> bool:
    """Return True if the value of a field with this name, or a value inside it, may be a secret.

    Among these names are `cookies`, whose members are secrets, and `value`, because the name of the
    value may be in another member: `{"name": "token", "value": …}`.
    """
    return secret_kind(name) is not None or name.lower() == "value" or name.lower() in MAPS


class _ValuePlace:
    """The schemas that describe one part of a JSON value, such as the value at one key.

    The schemas of its members and items are looked up on demand, see `child`.
    """

    def __init__(self, schemas: Iterable[Any], root: JsonObject) -> None:
        self.root = root
        self.views = expand_combinations(schemas, root, most=_MOST_VIEWS)
        self._is_enum = any("enum" in view or "const" in view for view in self.views)
        marks = [
            view["x-atc-secret"]
            for view in self.views
            if isinstance(view.get("x-atc-secret"), bool)
        ]
        self.declared: bool | None = (
            any(marks) if marks else any(map(_is_marked_secret, self.views)) or None
        )
        """True or False if the schemas declare that the value is secret or not, else None."""
        self._firsts = max((len(view.get("prefixItems", ())) for view in self.views), default=0)
        self._parts: dict[str | int, _ValuePlace] = {}

    def is_secret_by_name(self, name: ValueName, value: Json) -> bool:
        """Return True if a value is a secret because of its name.

        A value whose schema has an `enum` or `const` is no secret.
        """
        return not self._is_enum and name.is_secret_value(value)

    def child(self, key: str | int) -> _ValuePlace:
        """Return what the schemas declare about one member or item of the value.

        `key` is the key of the member or the index of the item.
        """
        if not self.views:
            return self
        key = key if isinstance(key, str) else min(key, self._firsts)
        if key not in self._parts:
            self._parts[key] = _ValuePlace(iter_member_schemas(self.views, key), self.root)
        return self._parts[key]


def _is_marked_secret(schema: JsonObject) -> bool:
    """Return True if a schema says that its values are secrets."""
    marked = schema.get("writeOnly") is True or schema.get("x-atc-secret") is True
    return marked or schema.get("format") == "password"


# --- secrets within texts

_LONGEST_JSON = 1_000_000  # a longer text is not parsed as JSON


def find_embedded_secrets(text: str) -> Iterator[str]:
    """Yield the secrets within a text. If the text is JSON, the parsed value is searched, too."""
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
    """Return a secret, followed by those parts of it that are secrets by themselves.

    Such parts are the token after `Bearer`, the password after a user name, and the values of
    cookies.
    """
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
    """Return the secrets of a JSON value in the order in which they occur.

    Included are the secret parts of each secret (see `secret_with_parts`), and the secrets within
    texts that are not secret as a whole.
    """
    found: list[Json] = []

    def rest(leaf: Json) -> Json:
        found.extend(find_embedded_secrets(leaf) if isinstance(leaf, str) else ())
        return leaf

    replace_secrets(value, schema, lambda leaf: found.extend(secret_with_parts(leaf)), rest=rest)
    return found


# --- placeholders

PLACEHOLDER = re.compile(r"\[redacted-(?:str|int|float)-\d+-[a-z]?\d[\d.]*\]")
"""Matches a placeholder. It is plain ASCII without quotes, spaces or backslashes, so it looks the
same in JSON, in a Python literal and in a log line.
"""
_THE_SAME = re.compile(r"[A-Za-z0-9_.\-]+")  # characters that nothing escapes
_UNSAFE = re.compile(r"[^A-Za-z0-9_.\- @:/+,!$&?~]")
_MASKS = re.compile(
    r"\s*([*•●·.#_\-])\1*\s*|x+|X+|[<\[({*]*(?:redacted|masked|hidden|filtered|removed)[>\])}*]*",
    re.IGNORECASE,
)


def placeholder(value: str | float, mark: str) -> str:
    """Return the text that replaces a secret, such as `[redacted-str-24-0.3.1]`.

    It contains the type and length of the secret, and `mark`, a text that is different for each
    secret of a run.
    """
    return f"[redacted-{type(value).__name__}-{len(str(value))}-{mark}]"


def escape_for_literal(text: str) -> str:
    """Return `text` escaped for use between the quotes of a Python literal or a JSON string."""
    return _UNSAFE.sub(
        lambda found: f"\\u{ord(found[0]):04x}" if ord(found[0]) < 0x10000 else found[0], text
    )


def is_blank_or_mask(text: str) -> bool:
    """Return True if a text is blank, a mask (`***`), or a placeholder, and therefore no secret."""
    return not text.strip() or bool(PLACEHOLDER.fullmatch(text) or _MASKS.fullmatch(text))


def encoded_forms(text: str) -> set[str]:
    """Return all forms in which a text may occur in other texts.

    These are the text itself, and the text as it is escaped in JSON, URLs, HTML, Python and shells.
    """
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
