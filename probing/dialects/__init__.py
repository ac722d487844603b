"""Error replies of many makers, read into `Hint`s: structured dialects first, then sentences.

A reader must not be sure of what a reply does not say: what is vague gives *refused*, or nothing. Every reader is
total: it takes any text, and its work is bounded by cuts at lengths and counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from probing.dialects.bodies import MAX_CHARACTERS, documents_in, messages_in, without_error_name
from probing.dialects.codes import added_names, read_code
from probing.dialects.complaint import Complaint
from probing.dialects.fieldmaps import read_maps
from probing.dialects.frameworks import read_frameworks, read_signature
from probing.dialects.naming import Names
from probing.dialects.pydantic_text import read_pydantic
from probing.dialects.records import read_records
from probing.dialects.sentences import Context, read_text
from probing.hint import Hint
from probing.sample import Sample
from probing.shape import text_of
from protocols.jsontypes import Json
from protocols.reply import one_line

_SILENT: Final = frozenset({402, 405, 406, 407, 408, 411, 413, 415, 425, 429, 431, 451})
_CLOSED: Final = frozenset({401, 403})
_ADDITIONS: Final = ("example", "default", "source", "enum", "range", "length", "pattern", "format", "not_found")


def hints(sample: Sample, names: Mapping[str, str]) -> tuple[Hint, ...]:
    """What the answer of a call that failed says of the tool's arguments, each fact once.

    `names` maps what the service may call an argument to the argument's name. An argument that is not among them is
    returned where the reply certainly names one: in *missing* and *allowed*. Answers 401 and 403 tell only where a
    credential comes from (*source*); 429, 5xx and others that are not about arguments tell nothing.
    """
    status = sample.status
    if sample.done or (status is not None and (status > 500 or status in _SILENT)):
        return ()
    text = (sample.answer if sample.answer and sample.answer.strip() else sample.error)[:MAX_CHARACTERS]
    return _hints(text, sample.tool, status, json.dumps(sample.plain), tuple(names.items()))


@lru_cache(maxsize=512)  # facts are learned anew after every call, from the same replies
def _hints(text: str, tool: str, status: int | None, sent: str, names: tuple[tuple[str, str], ...]) -> tuple[Hint, ...]:
    known = Names(dict(names), json.loads(sent))
    if status == 500:  # a service that lets its own TypeError out says which arguments its function takes
        return _once(hint for hint in read_signature(text, known) if known.known(hint.argument or ""))
    context = Context(names=known, tool=tool, status=status)
    found = _read(text, context)
    if status in _CLOSED:
        found = [hint for hint in found if hint.kind == "source"]
    elif status in (404, 410) and not any(hint.kind == "not_found" for hint in found):
        found += _nowhere(text, known)
    return _once(replace(hint, text=_neutral(hint.text, known)) for hint in found)


def _neutral(text: str, names: Names) -> str:
    """A hint's text without the values that were sent, so that one fact is told in the same words whatever was sent."""
    for value in names.sent.values():
        if isinstance(value, str | int | float) and (said := text_of(value)):
            quoted = re.escape(said[:100])
            text = re.sub(rf"(?<!\w)(['\"`]){quoted}\1(?!\w)|^{quoted}(?=\s)", "'…'", text)
    return text


def _read(text: str, context: Context) -> list[Hint]:
    documents, words = documents_in(text)
    found: list[Hint] = []
    for document in documents[:8]:
        found += _of_document(document, context, depth=2)
    return found + _of_words(words, context)


def _of_document(document: Json, context: Context, *, depth: int) -> list[Hint]:
    found: list[Hint] = []
    seen: set[int] = set()
    said: set[str] = set()
    for node, complaint in read_records(document, context.names):
        seen.add(id(node))
        found += _of_complaint(complaint, context)
    for complaint in read_maps(document, context.names):
        said.add(complaint.text)
        found += _of_complaint(complaint, context)
    for message in messages_in(document, seen, said):
        inner, words = documents_in(message) if depth and ("{" in message or "[" in message) else ([], message)
        nested = [part for part in inner if isinstance(part, dict | list)]
        for part in nested[:4]:
            found += _of_document(part, context, depth=depth - 1)
        found += _of_words(words if nested else message, context)
    return found


def _of_words(text: str, context: Context) -> list[Hint]:
    if not text.strip():
        return []
    found: list[Hint] = []
    complaints = list(read_pydantic(text))
    for complaint in complaints:
        found += _of_complaint(complaint, context)
    if complaints:
        return found
    fixed, rest = read_frameworks(text, context.names)
    return fixed + read_text(without_error_name(rest), context)


def _of_complaint(complaint: Complaint, context: Context) -> list[Hint]:
    names, said = context.names, one_line(complaint.text, limit=200)
    facts = read_code(complaint.code, complaint.parameters)
    if facts and (added := added_names(complaint.parameters)):
        places = [names.at((*complaint.path, name)) for name in added]
        return [
            Hint(kind="refused" if place.nested else facts[0].kind, argument=place.argument, text=said)
            for place in places
            if place and (place.known or facts[0].kind == "missing")
        ]
    place = names.at(complaint.path) if complaint.path else None
    if place is None:
        return _of_words(complaint.text, context) if complaint.text else []
    if place.nested:
        return [Hint(kind="refused", argument=place.argument, text=said)]
    fixed, rest = read_frameworks(complaint.text, names)
    words = [*fixed, *read_text(rest, context, argument=place.argument)]
    if not place.known:
        asked = [
            hint for hint in [*facts, *words] if hint.kind == "missing" and hint.argument in (None, place.argument)
        ]
        return [Hint(kind="missing", argument=place.argument, text=said)] if asked and complaint.sure else []
    kinds = {fact.kind for fact in facts}
    if facts:
        words = [hint for hint in words if hint.kind in _ADDITIONS and hint.kind not in kinds]
    found = [*(replace(fact, argument=place.argument, text=said) for fact in facts), *words]
    return found or [Hint(kind="refused", argument=place.argument, text=said)]


def _nowhere(text: str, names: Names) -> list[Hint]:
    """Of an answer 404 that says no more: the one value that was sent, unless it is the address that is not known."""
    given = [name for name, value in names.sent.items() if value is not None]
    said = text[:2000].lower()
    address = any(
        words in said
        for words in (
            "cannot get",
            "no route",
            "route not found",
            "requested url",
            "page not found",
            "endpoint",
            "unknown route",
        )
    )
    if len(given) != 1 or address:
        return []
    return [Hint(kind="not_found", argument=given[0], text=one_line(text, limit=200))]


def _once(found: Iterable[Hint]) -> tuple[Hint, ...]:
    """Each fact once; *refused* only where nothing more is known of the argument."""
    kept: dict[Hint, Hint] = {}
    for hint in found:
        kept.setdefault(replace(hint, text=""), hint)
    told = {hint.argument for hint in kept.values() if hint.kind not in ("refused", "example", "default", "source")}
    return tuple(hint for hint in kept.values() if hint.kind != "refused" or hint.argument not in told)
