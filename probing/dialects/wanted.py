"""What a clause asks of a value: type, enum, range, length, pattern, format, examples, default."""

from __future__ import annotations

import re

from probing.dialects.bounds import read_bounds
from probing.dialects.enums import read_enum, read_quoted
from probing.dialects.formats import is_template, read_format
from probing.dialects.type_words import read_types
from probing.hint import Hint
from protocols.jsontypes import Json
from protocols.schema import validator

_GOT = re.compile(
    r"\s*(?:[,;(:]\s*|\bbut\s+)(?:(?:but|instead|we|it|you|and)\s+)*(?:got|received|was given|was|were|found"
    r"|gave|given|sent|provided|supplied|actual|is|not(?= ['\"\d]))\b.*?(?=[,;] (?:we )?(?:want|expect|must"
    r"|should|allowed|need)|$)"
    r"|\s+(?:got|received)\s*[:=]?\s*['\"`\[{<\d-].*",
    re.IGNORECASE | re.DOTALL,
)
_MARKED_NUMBER = re.compile(r"`(-?\d{1,15}(?:\.\d{1,9})?)`")
_PATTERN = re.compile(
    r"\b(?:match(?:es|ing)?|satisf(?:y|ies|ying)|conform(?:s|ing)? to|follow(?:s|ing)?|regexp?|regex pattern"
    r"|reg(?:ular )?expression|pattern|expected(?= /))\b"
    r"(?:\s+(?:the|a|an|this|required|following|expected|given|regular|expression|regexp?|pattern|regex|format"
    r"|of|is|with|rule)){0,7}\s*[:=]?\s*",
    re.IGNORECASE,
)


def without_value(clause: str) -> str:
    """A clause without what it says was given: `…, got 'x'`."""
    return _GOT.sub("", clause)


def wanted(text: str, *, argument: str = "", given: Json = None) -> list[Hint]:
    """The constraints that a clause states, argument and text not filled in. `given`: the value that it refuses."""
    text = text[:2000]
    text = _MARKED_NUMBER.sub(r"\1", text).replace('`"', '"').replace('"`', '"')
    spoken = _GOT.sub("", text)
    hints: list[Hint] = []
    pattern = _pattern(spoken)
    if pattern:
        hints.append(Hint(kind="pattern", pattern=pattern))
    elif form := read_format(spoken, argument):
        hints.append(form)
    types = read_types(spoken)
    if types and not (set(types) == {"string"} and any(h.kind in ("pattern", "format") for h in hints)):
        hints.append(Hint(kind="type", types=types))
    if not pattern:
        enum = read_enum(spoken)
        if enum and len(enum.values) > 1 and any(hint.format for hint in hints):
            hints = [hint for hint in hints if not hint.format]  # `must be email or sms`
        formed = any(hint.kind in ("pattern", "format") for hint in hints)
        enum = None if formed else enum
        hints += [enum] if enum else [] if formed else read_bounds(spoken, given=given)
    return hints + read_quoted(text, given)


def _pattern(text: str) -> str:
    for match in _PATTERN.finditer(text):
        rest = text[match.end() : match.end() + 400]
        if found := re.match(r"/((?:[^/\\\n]|\\.){1,300})/[a-z]{0,4}(?=\W|$)", rest):
            pattern = found[1]
        elif (found := re.match(r"'([^'\n]{1,300})'|\"([^\"\n]{1,300})\"|`([^`\n]{1,300})`", rest)) or (
            found := re.match(r"(\^[^\n]{0,300}\$)(?=[\s.,;)\]]|$)|([\^\[\\(][^\s\n]{1,300})", rest)
        ):
            pattern = next(group for group in found.groups() if group)
        else:
            continue
        if usable := ecma(pattern):
            return usable
    bare = re.search(r"(?<![\w/])\^[^\s]{1,200}\$(?=[\s.,;)]|$)", text)
    return ecma(bare[0]) if bare else ""


def ecma(pattern: str) -> str:
    """A regular expression in ECMA's spelling; empty where the text is none, or only a word or a template."""
    pattern = pattern.strip("/") if pattern.startswith("/^") else pattern
    pattern = pattern.replace("(?P<", "(?<").replace(r"\Z", "$").replace(r"\z", "$").replace(r"\A", "^")
    if not re.search(r"[\^$\[\]\\+*{}|]", pattern) or is_template(pattern) or "%" in pattern:
        return ""
    try:
        validator({"pattern": pattern})
    except ValueError:
        return ""
    return pattern
