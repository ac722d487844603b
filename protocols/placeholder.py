"""What stands in the place of a secret: `[redacted-str-24-0.3.1]`, its type, its length and which one it is."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import quote, quote_plus

from protocols.jsontypes import Json

PLACEHOLDER = re.compile(r"\[redacted-(?:str|int|float)-\d+-[a-z]?\d[\d.]*\]")
"""Plain ASCII without quotes, spaces or backslashes: it is the same in JSON, in a Python literal and in a log line."""

_THE_SAME = re.compile(r"[A-Za-z0-9_.\-]+")  # characters that nothing escapes
_UNSAFE = re.compile(r"[^A-Za-z0-9_.\- @:/+,!$&?~]")
_KINDS = ("str", "int", "float")
_MASKS = re.compile(
    r"\s*([*•●·.#_\-])\1*\s*|x+|X+|[<\[({*]*(?:redacted|masked|hidden|filtered|removed)[>\])}*]*", re.IGNORECASE
)


def placeholder(value: str | float, mark: str) -> str:
    """The placeholder of a secret; `mark` tells it from the others of its run."""
    return f"[redacted-{type(value).__name__}-{len(str(value))}-{mark}]"


def is_placeholder(value: Json) -> bool:
    """Whether a value is a placeholder and nothing else."""
    return isinstance(value, str) and PLACEHOLDER.fullmatch(value) is not None


def length(name: str) -> int:
    """How many characters the secret has that a placeholder stands for."""
    return int(name.split("-")[2])


def in_literal(text: str) -> str:
    """`text` as it can stand within the quotes of a Python literal or a JSON string, whatever is in it."""
    return _UNSAFE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else found[0]


def conceals_nothing(text: str) -> bool:
    """Whether what stands in a secret's place is blank, a mask (`***`, `[hidden]`), or of a placeholder's own words."""
    if not text.strip() or PLACEHOLDER.fullmatch(text) or _MASKS.fullmatch(text):
        return True
    worded = re.sub(r"\d+", "0", text)
    return any(map(str.isalpha, text)) and any(worded in f"[redacted-{kind}-0-0.0.0]" for kind in _KINDS)


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
