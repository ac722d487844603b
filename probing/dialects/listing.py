"""Lists in sentences: `'a', 'b' or 'c'`, `[a, b]`, `"a"|"b"`, `a, b and c`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from protocols.jsontypes import Json

MAX_VALUES = 500
_QUOTES = {"'": "'", '"': '"', "`": "`", "‘": "’", "“": "”", "«": "»"}
_CLOSERS = {"[": "]", "(": ")", "{": "}"}
_SEPARATOR = re.compile(r"\s*(?:[,|/]\s*(?:or|and|nor)\b|,|\||/(?=\s|['\"`\w])|\b(?:or|and|nor)\b|&)\s*", re.IGNORECASE)
_BARE = re.compile(r"[^\s,;|()\[\]{}'\"`<>]{1,80}")
_ENUM_MEMBER = re.compile(r"<[\w.]{1,80}: ('[^']{0,80}'|\"[^\"]{0,80}\"|[^<>]{1,80})>")
_MORE = re.compile(r"\s*(?:,|and|or)?\s*(?:\.\.\.|…|etc\b|and \d+ (?:more|other)|\(?\+?\d+ more)", re.IGNORECASE)
_WORDS = frozenset({
    "a", "an", "but", "default", "defaults", "e.g", "e.g.", "found", "given", "got", "if", "in", "instead", "is",
    "it", "must", "not", "received", "see", "should", "the", "was", "when", "where", "which", "while",
})  # fmt: skip
_NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?")


@dataclass(frozen=True, slots=True)
class Listing:
    """Values that stand in a row. `whole` is False where the text says that there are more, or breaks off.

    `quoted`: each stands in quotation marks or the list in brackets. `end` is the position behind it.
    """

    values: tuple[Json, ...]
    whole: bool = True
    quoted: bool = False
    end: int = 0


def read_list(text: str, start: int = 0, *, spaces: bool = False) -> Listing:
    """The list that begins at `start`; with `spaces`, unquoted values may be of several words."""
    text = text[:start] + _ENUM_MEMBER.sub(r"\1", text[start : start + 20_000])
    position = len(text) - len(text[start:].lstrip(" \t:="))
    if position < len(text) and text[position] in _CLOSERS:
        end = _closing(text, position)
        inside = text[position + 1 : end if end > 0 else len(text)]
        parsed = _as_json(text[position : end + 1]) if end > 0 and text[position] == "[" else None
        if parsed is not None:
            return Listing(parsed, quoted=True, end=end + 1)
        inner = _row(inside, 0, spaces=True)
        rest = inside[inner.end :].strip(" .")
        whole = inner.whole and end > 0 and not rest
        return Listing(inner.values, whole=whole, quoted=True, end=end + 1 if end > 0 else len(text))
    return _row(text, position, spaces=spaces)


def scalar(text: str) -> Json:
    """An unquoted value as the reply means it: a number, a boolean, null, or text."""
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return {"true": True, "false": False, "null": None, "None": None, "True": True, "False": False}.get(text, text)


def unquoted(text: str, position: int) -> tuple[str, int] | None:
    """The text in the quotation marks that open at `position`, and where it ends; `None` where none do."""
    closer = _QUOTES.get(text[position : position + 1])
    if closer is None:
        return None
    end = text.find(closer, position + 1, position + 202)
    # An apostrophe within a word closes nothing: 'it's'.
    while end > 0 and closer == "'" and text[end + 1 : end + 2].isalnum():
        end = text.find(closer, end + 1, position + 202)
    return (text[position + 1 : end], end + 1) if end > 0 else None


def _row(text: str, position: int, *, spaces: bool) -> Listing:
    values: list[Json] = []
    quoted, whole = True, True
    while len(values) < MAX_VALUES:
        marked = unquoted(text, position)
        if marked is not None:
            values.append(marked[0])
            position = marked[1]
        else:
            bare = _BARE.match(text, position)
            if bare is None or (values and _goes_on(text, bare)):
                break
            item, position, ended = _bare_item(text, bare, spaces=spaces)
            if not item:
                break
            quoted = False
            values.append(scalar(item))
            if ended:
                break
        if _MORE.match(text, position):
            whole = False
            break
        separator = _SEPARATOR.match(text, position)
        if separator is None or separator.end() >= len(text) or not separator[0].strip():
            break
        # Behind a quotation mark a slash begins a path: 'x' and not /srv, in wrongly paired marks at the least.
        if marked is not None and separator[0] == "/" and text[separator.end()] not in _QUOTES:
            break
        if "…" in separator[0] or _MORE.match(text, separator.end()):
            whole = False
            break
        position = separator.end()
    if position >= len(text) and text.endswith("…"):
        whole = False
        if values and not quoted:
            values.pop()
    return Listing(tuple(dict.fromkeys(values)) if _plain(values) else tuple(values), whole, quoted, position)


def _bare_item(text: str, bare: re.Match[str], *, spaces: bool) -> tuple[str, int, bool]:
    """An unquoted value, the position behind it, and whether the sentence ends with it."""
    item, position = bare[0], bare.end()
    if spaces:
        several = re.compile(r"[^,;|()\[\]{}'\"`<>\n]{1,60}").match(text, bare.start())
        if several and len(several[0].split()) <= 4 and not re.search(r"\s(?:or|and)\s", several[0]):
            item, position = several[0].strip(), several.end()
    if item.endswith("…"):
        return "", position, True
    if item.endswith("/") or ("/" in item and re.fullmatch(r"[A-Za-z]+(?:/[A-Za-z]+)+", item)):
        first = item.split("/")[0]
        return first, bare.start() + len(first), False
    trimmed = item.rstrip(".:!?")
    return trimmed, position, trimmed != item


def _goes_on(text: str, word: re.Match[str]) -> bool:
    """Whether the sentence goes on with this word, so that it is no value: `a, b, but got c`."""
    return word[0].lower() in _WORDS and re.match(r"\s+[\w'\"`]", text[word.end() : word.end() + 20]) is not None


def _closing(text: str, start: int) -> int:
    closer, depth, position = _CLOSERS[text[start]], 0, start
    while position < len(text):
        char = text[position]
        if position > start and (marked := unquoted(text, position)):
            position = marked[1]
            continue
        depth += (char == text[start]) - (char == closer)
        if depth == 0:
            return position
        position += 1
    return -1


def _as_json(text: str) -> tuple[Json, ...] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(value[:MAX_VALUES]) if isinstance(value, list) and _plain(value) else None


def _plain(values: list[Json]) -> bool:
    """Whether these are scalars, all told apart by `==`."""
    return all(v is None or isinstance(v, str | int | float) for v in values) and not (
        any(isinstance(v, bool) for v in values) and any(v in (0, 1) and not isinstance(v, bool) for v in values)
    )
