"""Whether a literal comes from the tools' documents: others wrote those, and a model reads them before it writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any

from atc.taint.encodings import LONGEST_TEXT, decoded, folded, rot13, squashed, words
from atc.taint.literals import same
from atc.taint.numbers import number, numbers
from atc.taint.shown import plain
from protocols.jsontypes import Json
from protocols.marks import Sensitivity, is_email
from protocols.protocol import dump
from protocols.toolbox import Toolbox

_LONG = 6
"""Characters from which a part of a literal counts where it stands within other letters."""

_PIECE = 3
"""Characters of a word that a literal may be put together from; a quoted piece may be shorter."""

_GENERIC = frozenset({
    "and", "app", "biz", "co", "com", "dev", "edu", "example", "for", "ftp", "gov", "http", "https", "info", "int",
    "io", "mail", "mailto", "net", "org", "ssh", "the", "www",
})  # fmt: skip
"""Words of addresses that tell nothing apart."""

_SPELLED = re.compile(r"(?<![^\W_])[^\W_](?:[\s.,_\-/|+'\"]{1,4}[^\W_](?![^\W_])){2,}")
_QUOTED = re.compile(r"`([^`\s]{1,40})`|\"([^\"\s]{1,40})\"|'([^'\s]{1,40})'|“([^”\s]{1,40})”")
_AIMED = re.compile(r"[.@:/\\~]|\d[^\W\d]|[^\W\d]\d")


class Documents:
    """What the documents of a toolbox say, as words. Built when the first literal is asked about."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox

    def source(self, value: Json, kind: Sensitivity, task: str) -> str | None:
        """The tool whose document holds what tells this literal apart, where the task does not; None where none does.

        Looked for are words of it (for a long one letters in a row too), as they are, backwards, by ROT13, put
        together from words or quoted pieces, spelled letter by letter, and within whatever the documents hold in an
        encoding. An amount is looked for among numbers.
        """
        if isinstance(value, bool):
            return None
        amount = _amount(value, kind)
        if amount is not None:
            return self._numbers.get(abs(amount))
        known = folded(task)
        known_words, known_letters = set(words(known)), squashed(known)
        for part in _telling(value if isinstance(value, str) else plain(value), kind):
            if part in known_words or (len(part) >= _LONG and part in known_letters):
                continue
            for form in dict.fromkeys((part, part[::-1], rot13(part), rot13(part[::-1]))):
                if (tool := self._holder(form)) is not None:
                    return tool
        return None

    def _holder(self, form: str) -> str | None:
        if form in self._words:
            return self._words[form]
        if len(form) >= _LONG:
            for tool, letters in self._letters.items():
                if form in letters:
                    return tool
        return self._composed(form)

    def _composed(self, form: str) -> str | None:
        """The tool of the first piece, where the whole is made of pieces of the documents."""
        reached: dict[int, str] = {0: ""}
        for end in range(1, len(form) + 1) if 4 <= len(form) <= 80 else ():
            for start in [one for one in reached if one < end]:
                piece = form[start:end]
                known = self._pieces.get(piece) or (self._words.get(piece) if len(piece) >= _PIECE else None)
                if known is not None:
                    reached[end] = reached[start] or known
        return reached.get(len(form))

    @cached_property
    def _documents(self) -> Mapping[str, Any]:
        return {alias: dump(tool.protocol) for alias, tool in self._toolbox.items()}

    @cached_property
    def _texts(self) -> Mapping[str, list[str]]:
        """By tool, every text of its document that no tool before had, what they hold in an encoding included."""
        seen: set[str] = set()
        found: dict[str, list[str]] = {}
        for alias, document in self._documents.items():
            fresh = [text for text in dict.fromkeys(_strings(document)) if text not in seen]
            seen.update(fresh)
            found[alias] = [inner for text in fresh for inner in decoded(text)]
        return found

    @cached_property
    def _folded(self) -> Mapping[str, list[str]]:
        return {alias: [folded(text) for text in texts] for alias, texts in self._texts.items()}

    @cached_property
    def _words(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for alias, texts in self._folded.items():
            for text in texts:
                for word in (*words(text), *(squashed(match.group()) for match in _SPELLED.finditer(text))):
                    found.setdefault(word, alias)
        return found

    @cached_property
    def _letters(self) -> Mapping[str, str]:
        return {alias: "\n".join(map(squashed, texts)) for alias, texts in self._folded.items()}

    @cached_property
    def _pieces(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for alias, texts in self._folded.items():
            for text in texts:
                for match in _QUOTED.finditer(text):
                    if piece := squashed(next(filter(None, match.groups()))):
                        found.setdefault(piece, alias)
        return found

    @cached_property
    def _numbers(self) -> Mapping[Decimal, str]:
        found: dict[Decimal, str] = {}
        for alias, document in self._documents.items():
            written = (one for text in self._texts[alias] for one in numbers(text))
            for value in (*_numbers_of(document), *written):
                found.setdefault(abs(value), alias)
        return found


def _amount(value: Json, kind: Sensitivity) -> Decimal | None:
    if kind != "amount":
        return None
    amount = number(value) if isinstance(value, str) else same(value)[1]
    return amount if isinstance(amount, Decimal) else None


def _telling(text: str, kind: Sensitivity) -> list[str]:
    """The parts of a literal that tell it apart, folded; the literal as a whole is the last of them."""
    plain = folded(text)
    parts = [word for word in words(plain) if word not in _GENERIC]
    if kind == "command":  # its words are everybody's; what it is aimed at is not
        aimed = {word for token in plain.split() if _AIMED.search(token) for word in words(token)}
        parts = [word for word in parts if word in aimed]
    elif is_email(text) or "://" in text:  # the last label of a host is everybody's
        host = re.match(r"[^/:?#\s]*", re.split(r"://|@", plain)[-1])
        ending = host.group().rpartition(".")[2] if host and "." in host.group() else ""
        parts = [word for word in parts if word != ending]
    long = [part for part in parts if len(part) >= _PIECE]
    return list(dict.fromkeys([*(long or parts), *filter(None, [squashed(plain)])]))


def _leaves(value: Any) -> Iterator[Any]:
    """Every value of a document that holds no others, and every key."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Mapping):
            yield from current
            waiting += current.values()
        elif isinstance(current, list | tuple):
            waiting += current
        else:
            yield current


def _strings(document: Any) -> Iterator[str]:
    return (leaf[:LONGEST_TEXT] for leaf in _leaves(document) if isinstance(leaf, str))


def _numbers_of(document: Any) -> Iterator[Decimal]:
    return (Decimal(str(n)) for n in _leaves(document) if isinstance(n, int | float) and not isinstance(n, bool))
