"""Whether an answer is right, decided by program alone.

In every type an answer that is empty is wrong, and one that is an accepted spelling as a whole is right. Case, accents,
punctuation and white space are never compared in text.

`number`
    Numbers may have a sign, thousands separators, a currency, a unit or a percent sign. Dates (`2013-01-05`), times
    (`5:17`) and names with letters in them (`N14228`) are not numbers. An answer that is one number, with at most three
    words after it, is compared as it stands. Of any other, the numbers that also stand in the question are set aside,
    and all that remain must be the expected one: an answer that lists numbers is wrong. The tolerance is absolute.
`text`
    The expected text or an accepted spelling must occur as whole words, not negated. The rest may have at most twelve
    words that are not in the question, and must not name alternatives: no other item of one to three words between
    commas, `/`, `and`, `or` or line ends. A structure (JSON or Python) with more than one value is wrong. The question
    itself, repeated, is set aside.
`set`
    A JSON or Python list, or items separated by commas, semicolons, `and` or line ends, after an optional `…:`.
    Exactly the expected items, in any order, each compared as a number or as a whole text. Repeats do not matter.
`list`
    As a set, but in order, and repeats matter.
`none`
    `none`, `nothing`, `not found` or the like, or one sentence that says so (`there is no …`, `no film …`) and makes
    no exception, of at most twenty words and without numbers that the question lacks. An empty list says nothing: a
    program that went wrong prints it too; so does what a service says of an id (`no film 'fm_23456'`).
`state`
    Not by what is said: by what the run's writes left. `toolflow_bench.final_state` compares it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.jsontypes import Json
from toolflow_bench.final_state import Snapshot, difference
from toolflow_bench.numbers import fold, leaves, numbers, structure, whole_number, words
from toolflow_bench.task import Question

MOST_WORDS_OF_NONE = 20
"""Words of a sentence that says that there is none."""

MOST_WORDS = 12
"""Words that a text answer may have besides the expected ones and those of the question."""

_SEPARATORS = re.compile(r"[,;|/\n&•]|\b(?:and|or|versus|vs)\b")
_NEGATED = re.compile(r"\b(?:not|never|neither|nor|except|without|isnt|wasnt)\W+(?:(?:a|an|the)\W+)?\x00")
_DATE_PARTS = re.compile(r"(?<=\d)[-:/](?=\d)")  # `2013-01-05` may be answered as "January 5, 2013"
_NONE = frozenset({"none", "nothing", "nobody", "no one", "not found", "n a", "nil", "no", "no match", "no result"})
_SAYS_NONE = re.compile(
    r"^\W*(?:(?:there|here) (?:is|are|was|were|exists?) (?:no|none|not any|nothing)\b"
    r"|(?:none|nothing|nobody|no one|no)\b"
    r"|(?:i )?(?:could not|couldnt|cannot|did not|didnt) (?:find|be found)\b|not found\b|not any\b)"
)
_EXCEPTS = re.compile(r"\b(?:except|excepting|but|only|however|besides|other than|apart from)\b")
_SPELLED = re.compile(r"\w+_\w+")
"""An id, a tool or a key, as programs spell them."""
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_FUNCTION_WORDS = frozenset(
    words(
        "a an the with at in on of by for from is was are were it its that which who because so as has had have this"
        " there to than more most but i we they be been being did does do"
    )
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is right, and why in a few words."""

    correct: bool
    reason: str


def grade(answer: str | None, expected: Question, *, state: Snapshot | None = None) -> Verdict:
    """Compare `answer`, or the `state` that a run left, with what `expected` wants, as the module's docstring says."""
    if expected.type == "state":
        wrong = difference(state or {}, expected.answer, tolerance=expected.tolerance)
        return Verdict(wrong is None, wrong or "the state is as expected")
    if answer is None or not answer.strip():
        return Verdict(False, "no answer")
    said = words(answer)
    if said and any(said == words(spelling) for spelling in expected.accept):
        return Verdict(True, "an accepted spelling")
    return _GRADERS[expected.type](answer, expected)


def _number(answer: str, expected: Question) -> Verdict:
    found = numbers(answer)
    if not found:
        return Verdict(False, "no number in the answer")
    whole = whole_number(answer)
    if whole is not None:
        return _verdict(_near(whole, expected.answer, expected.tolerance), expected.answer, f"{whole:.12g}")
    asked = {*numbers(expected.question), *numbers(_DATE_PARTS.sub(" ", expected.question))}
    left = list(dict.fromkeys(number for number in found if number not in asked))
    if not left:
        return Verdict(False, "every number of the answer stands in the question")
    correct = all(_near(number, expected.answer, expected.tolerance) for number in left)
    return _verdict(correct, expected.answer, _few([f"{number:.12g}" for number in left]))


def _text(answer: str, expected: Question) -> Verdict:
    value = structure(answer)
    if isinstance(value, dict | list):
        values = list(leaves(value))
        if len(values) != 1:
            return Verdict(False, f"a structure of {len(values)} values, one is wanted")
        answer = str(values[0])
    spellings = sorted((expected.answer, *expected.accept), key=len, reverse=True)
    rest, repeats = _occurrence(expected.question).subn(" ", fold(answer))
    found = 0
    for spelling in spellings:
        rest, count = _occurrence(spelling).subn(" \x00 ", rest)
        found += count
    if not found:
        return Verdict(False, "only repeats the question" if repeats else f"does not say {expected.answer!r}")
    if _NEGATED.search(rest):
        return Verdict(False, f"denies {expected.answer!r}")
    asked = set(words(expected.question))
    beside = [word for word in words(rest) if word not in asked]
    if len(beside) > MOST_WORDS:
        return Verdict(False, f"{len(beside)} words besides the answer, at most {MOST_WORDS} are allowed")
    given_away = any(_occurrence(spelling).search(fold(expected.question)) for spelling in spellings)
    alternatives = _alternatives(rest, known=frozenset() if given_away else frozenset(asked))
    if alternatives:
        return Verdict(False, f"also names {_few(alternatives)}")
    return Verdict(True, f"says {expected.answer!r}")


def _alternatives(rest: str, *, known: frozenset[str]) -> list[str]:
    """Short items of a list that are not the answer (a NUL in `rest`); those with a bare number in them are details."""
    found = []
    for item in _SEPARATORS.split(rest):
        said = words(item)
        detail = "\x00" in item or _FUNCTION_WORDS & set(said) or any(word.isdigit() for word in said)
        if 1 <= len(said) <= 3 and not detail and not set(said) <= known:
            found.append(" ".join(said))
    return found


def _set(answer: str, expected: Question) -> Verdict:
    wanted, tolerance = expected.answer, expected.tolerance

    def matches(items: Sequence[Json]) -> bool:
        every = all(any(_same(item, one, tolerance) for one in wanted) for item in items)
        return every and all(any(_same(item, one, tolerance) for item in items) for one in wanted)

    return _items(answer, expected, matches)


def _list(answer: str, expected: Question) -> Verdict:
    return _items(answer, expected, lambda items: _same(list(items), expected.answer, expected.tolerance))


def _none(answer: str, expected: Question) -> Verdict:
    said = words(answer)
    plain = " ".join(said)
    if plain in _NONE and structure(answer) is None:
        return Verdict(True, "says that there is none")
    known = {*numbers(expected.question), *numbers(_DATE_PARTS.sub(" ", expected.question))}
    new: list[float | str] = [number for number in numbers(answer) if number not in known]
    new += [name for name in _SPELLED.findall(answer) if name not in expected.question]
    if not _SAYS_NONE.search(plain) or _EXCEPTS.search(plain) or new or len(said) > MOST_WORDS_OF_NONE:
        return Verdict(False, f"does not say that there is none: {_few([answer.strip()])}")
    return Verdict(True, "says that there is none")


def _items(answer: str, expected: Question, matches: Callable[[Sequence[Json]], bool]) -> Verdict:
    readings = list(_readings(answer))
    for items in readings:
        if matches(items):
            return Verdict(True, f"exactly the {len(expected.answer)} items")
    if not readings:
        return Verdict(False, "no list in the answer")
    return _verdict(False, expected.answer, _few([str(item) for item in max(readings, key=len)]))


def _readings(answer: str) -> Iterator[list[Json]]:
    """Each way in which the answer can be read as a list."""
    value = structure(answer)
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    if isinstance(value, list):
        yield value
    if isinstance(value, dict | list):
        return
    for body in dict.fromkeys((answer, answer.partition(":")[2])):
        for separator in (r"\n", r"[,;\n]", r"[,;\n]|\band\b"):
            items = [_BULLET.sub("", item).strip(" \t\r.`'\"") for item in re.split(separator, body)]
            if kept := [item for item in items if item]:
                yield kept


def _same(item: Json, wanted: Json, tolerance: float) -> bool:
    match wanted:
        case list():
            return (
                isinstance(item, list)
                and len(item) == len(wanted)
                and all(_same(one, other, tolerance) for one, other in zip(item, wanted, strict=True))
            )
        case str():
            return isinstance(item, str | int | float) and words(str(item)) == words(wanted)
        case _:
            value = whole_number(str(item)) if isinstance(item, str | int | float) else None
            return value is not None and _near(value, wanted, tolerance)


def _near(value: float, wanted: float, tolerance: float) -> bool:
    slack = 1e-9 * max(1.0, abs(wanted))  # what binary fractions lose
    return abs(value - wanted) <= tolerance + slack


def _occurrence(text: str) -> re.Pattern[str]:
    """`text` as whole words, whatever stands between them."""
    return re.compile(r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, words(text))) + r"(?![^\W_])")


def _verdict(correct: bool, wanted: Any, found: str) -> Verdict:
    return Verdict(correct, f"{found} as expected" if correct else f"{wanted!r} is expected, found {found}")


def _few(items: Sequence[str]) -> str:
    shown = ", ".join(item[:40] for item in items[:5])
    return f"{shown}, … ({len(items)} in all)" if len(items) > 5 else shown


_GRADERS: Mapping[str, Callable[[str, Question], Verdict]] = {
    "number": _number,
    "text": _text,
    "set": _set,
    "list": _list,
    "none": _none,
}
