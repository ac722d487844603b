"""Which values are secrets, by schema, by name and by what they look like; and the placeholders that stand for them.

A schema marks a place by `writeOnly: true`, `format: password` or `x-atc-secret: true`; `x-atc-secret: false` says that
a place is none, whatever its name. Names count also where a schema is missing or open.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import quote, quote_plus, unquote_plus

from protocols.reply import parse
from protocols.schema import Json, JsonObject, combined, inside
from protocols.words import WORDS, singular, words

Kind = Literal["text", "number", "random"]
"""What a secret of that name looks like. *text*: any text, or a long number. *number*: a short code (a PIN, an OTP, the
number of a card). *random*: only what looks drawn at random, since the name has other uses (`key`, `tokens`)."""
Change = Callable[[Json], Json]

# --- names. They are compared by their last words, joined: `api_key`, `apiKey` and `X-Api-Key` all end in `apikey`.

_SAID = WORDS["secrets"]
_TOKENS = {f"{word}{ending}" for word in _SAID["tokens"] for ending in ("token", "tokens")}
_TEXT = _SAID["text"] | _TOKENS | {f"{word}{ending}" for word in _SAID["keys"] for ending in ("key", "keys")}
_NUMBER, _RANDOM, _NOTHING_NEW, _QUESTIONS = (_SAID[one] for one in ("number", "random", "nothing_new", "questions"))
_LONGEST = 4  # words in one entry above: `two_factor_code` has three, `2_fa_code` four parts
_OTHERWISE = {word: _SAID[word] for word in ("token", "key", "pass")}
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CODE = re.compile(r"(?=[^\d]*\d)[A-Za-z0-9][A-Za-z0-9 \-]{2,40}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TIME = re.compile(r"\d{8}T\d{6}")
_NOT_SAID = words("basic bearer false n/a none null optional required true unknown")
_LONG_NUMBER = 6  # digits from which a number is a token rather than a count of them
_RANDOM_LENGTH, _RANDOM_RUNS, _RANDOM_PART = 16, 4, re.compile("[A-Za-z0-9]{8,}")
_RUNS = re.compile(r"^[A-Z][a-z]+|[A-Z]+|[a-z]+|\d+")


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind | None:
    """What kind of secret a field of this name holds; None where the name says nothing of one."""
    parts = [part.lower() for part in _PARTS.findall(name[:100])]
    while len(parts) > 1 and (parts[-1].isdigit() or parts[-1] in _NOTHING_NEW):
        parts.pop()
    if not parts or parts[0] in _QUESTIONS:
        return None
    before = parts[-2] if len(parts) > 1 else ""
    if before in _OTHERWISE.get(singular(parts[-1]), ()):
        return None
    endings = {"".join(parts[-size:]) for size in range(1, min(_LONGEST, len(parts)) + 1)}
    if endings & _TEXT:
        return "text"
    return "number" if endings & _NUMBER else "random" if endings & _RANDOM else None


def is_secret(name: str, value: Json) -> bool:
    """Whether what stands under a name is such a secret as the name says, and not a flag, a count or a word."""
    if (kind := kind_of(name)) is None or isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip()
    if not isinstance(value, str):
        return kind == "number" or (kind == "text" and sum(map(str.isdigit, text)) >= _LONG_NUMBER)
    if not text or text.lower() in _NOT_SAID:
        return False
    if kind == "number":
        return _CODE.fullmatch(text) is not None
    return kind == "text" or looks_random(text)


def looks_random(text: str) -> bool:
    """Whether letters and digits alternate as they do in a key, and not in a slug, a UUID or a time."""
    if len(text) < _RANDOM_LENGTH or any(map(str.isspace, text)) or _UUID.fullmatch(text) or _TIME.search(text):
        return False
    return any(len(_RUNS.findall(part)) >= _RANDOM_RUNS for part in _RANDOM_PART.findall(text))


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
        value = unquote_plus(raw)
        if len(value) >= _SHORTEST_ASSIGNED and (name.lower() in _SIGNED or is_secret(name, value)):
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
