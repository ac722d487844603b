"""A reference solution: calls that are made again, and what a program can tell of whether the answer follows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from atc.grounding import is_common, is_measure, words_of
from protocols.jsontypes import Json, JsonObject
from toolflow_bench.anytoolbench.pool import ApiPool, CallFailed

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SHORTEST = 3
"""Characters of a text that an answer may have by chance if it is shorter."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A call of a solution, arguments by their original names."""

    api: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Made:
    """A call of a solution with its response."""

    api: str
    arguments: JsonObject
    response: Json


@dataclass(frozen=True, slots=True)
class Written:
    """A query as it was handed in."""

    query: str
    answer: str
    calls: tuple[Planned, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a query is not taken, as one of few kinds and in detail."""

    kind: str
    detail: str


def made_again(written: Written, pool: ApiPool) -> tuple[Made, ...] | Refusal:
    """The calls of a solution, made anew in their order; or the first that failed."""
    made: list[Made] = []
    for number, call in enumerate(written.calls, start=1):
        try:
            made.append(Made(call.api, call.arguments, pool[call.api].call(call.arguments)))
        except CallFailed as failed:
            kind = "service failed" if failed.outage else "call failed"
            return Refusal(kind, f"call {number} of the solution, {call.api!r}: {failed}")
    return tuple(made)


def unsupported(written: Written, made: Sequence[Made]) -> Refusal | None:
    """What cannot be right: an id that comes from nowhere, or an answer that has nothing of any response."""
    for number, call in enumerate(made):
        for name, value in call.arguments.items():
            if _comes_from_nowhere(name, value, written.query, made[:number]):
                detail = f"{value!r} for {name!r} of {call.api!r} stands neither in the query nor in earlier responses"
                return Refusal("missing information", detail)
    if not any(_shares(call.response, written.answer) for call in made):
        return Refusal("unsupported answer", "no value of any response stands in the answer")
    return None


def noticed(written: Written, made: Sequence[Made]) -> list[str]:
    """What may be wrong, a sentence each, for the judge: calls that nothing came of, numbers that come from nowhere."""
    found: list[str] = []
    for number, call in enumerate(made):
        later = [repr(other.arguments) for other in made[number + 1 :]]
        if not any(_shares(call.response, text) for text in (written.answer, *later)):
            found.append(f"Nothing of the response to call {number + 1} stands in the answer or in a later call.")
    known = [*_numbers_of(written.query), *(n for call in made for n in _known_numbers(call.response))]
    odd = [text for text in _NUMBER.findall(written.answer) if not any(_same(text, number) for number in known)]
    if odd:
        found.append(f"These numbers of the answer stand in no response: {', '.join(odd[:5])}.")
    return found


def _comes_from_nowhere(name: str, value: Json, query: str, earlier: Sequence[Made]) -> bool:
    """Whether an argument is telling (an id, not a count or a measure) and nobody gave it."""
    if isinstance(value, bool) or not isinstance(value, str | int) or is_common(value) or is_measure(name):
        return False
    if isinstance(value, int) and any(_same(text, value) for text in _NUMBER.findall(query)):
        return False
    text = str(value).casefold()
    return text not in words_of(query) and not any(
        text == str(one).casefold() or text in words_of(str(one)) for call in earlier for one in _leaves(call.response)
    )


def _shares(response: Json, text: str) -> bool:
    """Whether a text has something of a response; true where the response has nothing that can be looked for."""
    lowered = text.casefold()
    numbers = _NUMBER.findall(text)
    telling = False
    for value in [*_leaves(response), *_lengths(response)]:
        if isinstance(value, str) and len(value.strip()) >= _SHORTEST:
            telling = True
            if value.strip().casefold() in lowered or any(
                _same(number, one) for number in numbers for one in _numbers_of(value)
            ):
                return True
        elif isinstance(value, int | float) and not isinstance(value, bool):
            telling = True
            if any(_same(number, value) for number in numbers):
                return True
    return not telling


def _leaves(value: Json) -> Iterator[Json]:
    match value:
        case Mapping():
            for inner in value.values():
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case _:
            yield value


def _lengths(value: Json) -> Iterator[int]:
    """How many entries each list has: what an answer may count."""
    inside = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    if isinstance(value, list) and value:
        yield len(value)
    for inner in inside:
        yield from _lengths(inner)


def _known_numbers(response: Json) -> Iterator[float]:
    for value in [*_leaves(response), *_lengths(response)]:
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield value
        elif isinstance(value, str):
            yield from _numbers_of(value)


def _numbers_of(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text)]


def _same(text: str, number: float) -> bool:
    """Whether a number as it is written is `number`, rounded to as many places as are written."""
    written = text.replace(",", "")
    places = len(written.partition(".")[2])
    try:
        return round(abs(number), places) == float(written)
    except (OverflowError, ValueError):
        return False
