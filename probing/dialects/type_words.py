"""Names of types in sentences, as JSON's: `a valid integer`, `java.lang.Integer`, `u32`, `<class 'str'>`."""

from __future__ import annotations

import re

_TYPES = {
    "integer": ("integer|int(?:32|64|eger)?|whole numbers?|integers|long(?=['\"`>)]|$| value)|[iu](?:8|16|32|64|size)"
    "|bigint|natural numbers?"),
    "number": ("numeric|numbers?(?! of)|float(?:32|64)?|doubles?|decimals?|real numbers?|f32|f64"
    "|floating[ -]point numbers?"),
    "boolean": "booleans?|bool|true or false|true/false|'true' or 'false'|\"true\" or \"false\"",
    "array": "arrays?|lists?|sequences?|vec",
    "object": "objects?|dict|dictionary|mappings?|json object|struct",
    "string": "strings?|str",
    "null": "null|none|nil",
}  # fmt: skip
_KIND = "|".join(f"(?P<{name}>{words})" for name, words in _TYPES.items())
_ONE_TYPE = re.compile(rf"(?:{_KIND})(?![\w-])", re.IGNORECASE)
_ADJECTIVES = (
    r"(?:(?:an?|the|of|type|valid|single|in|json|non-?empty|non-?negative|strictly|positive|finite|correct"
    r"|proper|native|form|kind|"
    r"primitive|plain|signed|unsigned|numeric(?= )|64-bit|32-bit|as|class|either)\s+){0,6}"
)
_WANTS_TYPE = re.compile(
    rf"(?:\b(?:must|should|shall|has to|have to|needs? to)(?: only)? be|\bmust contain|\bto be|\bexpect(?:ed|s"
    rf"|ing)?(?: type)?:?|\brequire[sd]?(?: type)?|"
    rf"\bnot (?:an?|of type)|\bis not|\ba valid|\bof type|\binto an?|\bto type|\bas an?|\brequired type"
    rf"|\bvalid types?:?|\bbe of|\bgo value of type|"
    rf"\binvalid|\bparse|\b(?:convert(?:ed)?|cast|coerced?|parsed?)\b.{{0,30}}?\b(?:to|as|into)|\bit must be"
    rf"|\bbe an?|\btypes? must be|\ballowed types?:?)\s*[:=]?\s*{_ADJECTIVES}(?:'|\"|`|<class '|java\.lang\."
    rf"|System\.)?(?=(?:{_KIND})(?![\w-]))",
    re.IGNORECASE,
)
_TOLD_TYPES = (
    ("invalid digit found in string", "integer"),
    ("invalid float literal", "number"),
    ("was not `true` or `false`", "boolean"),
)
"""Rust's words for a text that cannot be parsed."""
_LISTED_TEXT = re.compile(r"comma|separated|delimited|space-", re.IGNORECASE)


def read_types(text: str) -> tuple[str, ...]:
    """The JSON types that a clause asks for; empty where it asks for none."""
    for phrase, kind in _TOLD_TYPES:
        if phrase in text:
            return (kind,)
    match = _WANTS_TYPE.search(text)
    if match is None:
        return ()
    found: list[str] = []
    position = match.end()
    while (one := _ONE_TYPE.match(text, position)) and one.lastgroup:
        name = one.lastgroup
        if name == "array" and _LISTED_TEXT.search(text[max(0, one.start() - 30) : one.start()]):
            return ()
        if name == "string" and re.match(
            r"\s+(?:of|representing|containing) (?:an? )?(?:number|integer|digits)", text[one.end() :]
        ):
            return ()
        found.append(name)
        more = re.compile(r"['\"`>]*\s*(?:,|\||\bor\b)(?:\s+or)?\s*(?:an?\s+)?(?:'|\"|`)?").match(text, one.end())
        if more is None:
            break
        position = more.end()
    return tuple(dict.fromkeys(found)) if set(found) != {"null"} else ()


def type_named(word: str) -> str | None:
    """The JSON type that a type's name in some language means: `java.lang.Integer`, `u32`, `str`."""
    match = _ONE_TYPE.fullmatch(word.rpartition(".")[2])
    return match.lastgroup if match else None
