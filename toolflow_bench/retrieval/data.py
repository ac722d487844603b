"""Queries with the tools that they need, whatever file they come from."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from atc.retrieve.document import ToolDocument
from protocols.errors import AtcError


class InvalidRetrievalData(AtcError):
    """A file of tools and queries that cannot be used: says what is wrong where, and what is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalQuery:
    """What somebody asks, and the names of the tools that it takes, each once."""

    id: str
    text: str
    gold: tuple[str, ...]
    group: str = ""
    """The part of the data that it belongs to, where the data have parts (`G1_tool`, `tmdb`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalData:
    """The tools that are searched and what is asked of them. `notes` state what is known to be odd, a sentence each."""

    name: str
    documents: tuple[ToolDocument, ...]
    queries: tuple[RetrievalQuery, ...]
    notes: tuple[str, ...] = ()


def draw(queries: Sequence[RetrievalQuery], count: int, *, seed: int) -> tuple[RetrievalQuery, ...]:
    """`count` of the queries (all where there are no more), in their order, drawn by seed and ids alone."""
    order = sorted(query.id for query in queries)
    random.Random(f"{seed} queries").shuffle(order)  # noqa: S311 - a sample, not secrecy
    drawn = set(order[:count])
    return tuple(query for query in queries if query.id in drawn)


def assembled(
    name: str,
    documents: Iterable[ToolDocument],
    queries: Iterable[RetrievalQuery],
    *,
    notes: Iterable[str] = (),
) -> RetrievalData:
    """The data set, its odd places noted: gold tools that do not exist (left out), queries that contradict each other.

    Raises:
        InvalidRetrievalData: two tools or two queries have one name, or there are no tools.
    """
    documents, asked = tuple(documents), tuple(queries)
    if not documents:
        raise InvalidRetrievalData(f"{name}: there is no tool in the data; give a file that has some.")
    for what, names in (("tools", [d.name for d in documents]), ("queries", [q.id for q in asked])):
        twice = [one for one, number in Counter(names).items() if number > 1]
        if twice:
            raise InvalidRetrievalData(f"{name}: two {what} are called {twice[0]!r}; give each its own 'id'.")
    known = {document.name for document in documents}
    kept = tuple(_cut(query, known) for query in asked if known & set(query.gold))
    return RetrievalData(
        name=name,
        documents=documents,
        queries=kept,
        notes=(*notes, *_unknown_gold(asked, known), *_contradictions(kept)),
    )


def _cut(query: RetrievalQuery, known: set[str]) -> RetrievalQuery:
    gold = tuple(dict.fromkeys(tool for tool in query.gold if tool in known))
    return RetrievalQuery(id=query.id, text=query.text, gold=gold, group=query.group)


def _unknown_gold(queries: Sequence[RetrievalQuery], known: set[str]) -> list[str]:
    missing = sorted({tool for query in queries for tool in query.gold} - known)
    if not missing:
        return []
    dropped = sum(not known & set(query.gold) for query in queries)
    note = f"{len(missing)} gold tools are not among the tools ({missing[0]!r} …) and were left out"
    return [f"{note}; {dropped} queries had no other and were dropped."]


def _contradictions(queries: Sequence[RetrievalQuery]) -> list[str]:
    """Queries of one text whose gold tools differ: no ranking is right for all of them."""
    labels: dict[str, list[frozenset[str]]] = {}
    for query in queries:
        labels.setdefault(" ".join(query.text.casefold().split()), []).append(frozenset(query.gold))
    odd = [golds for golds in labels.values() if len(set(golds)) > 1]
    if not odd:
        return []
    note = f"{len(odd)} texts are asked more than once with different gold tools ({sum(map(len, odd))} queries)"
    return [f"{note}: no ranking is right for all of them."]


def read_json(path: Path, *, expected: str) -> Any:
    """The content of a JSON file.

    Raises:
        InvalidRetrievalData: it cannot be read or is not JSON; the sentence ends with what is `expected`.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidRetrievalData(f"cannot read {str(path)!r}: {error.strerror}; give {expected}.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidRetrievalData(f"{str(path)!r} is not JSON ({error}); give {expected}.") from error


def first_text(record: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first non-empty text (or number) among the fields `keys`; empty where there is none."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""
