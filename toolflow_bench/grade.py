"""Grading of answers. It uses fixed rules and no model.

For every type, an empty answer is wrong. An answer that equals one of the question's accepted
spellings (`accept`) is right. Comparisons of text ignore case, accents, punctuation and white
space.

`number`
    Numbers may have a sign, thousands separators, a currency, a unit or a percent sign.
    Dates (`2013-01-05`), times (`5:17`) and names with letters in them (`N14228`) are not
    numbers. If the answer is one number with at most three words after it, that number is
    compared. Otherwise the numbers that also occur in the question are ignored, and all
    others must equal the expected one. An answer that lists several numbers is therefore
    wrong. The tolerance is absolute.
`text`
    The expected text or an accepted spelling must occur as whole words and must not be
    negated. The rest of the answer may have at most twelve words that are not in the
    question. It must not name alternatives: other items of one to three words between commas,
    `/`, `and`, `or` or line ends. In a structure (JSON or Python) the text must be the only
    text, beside any numbers. The question itself, if repeated, is ignored.
`list`
    The expected values in order and nothing else. Accepted forms are a JSON or Python list,
    one value a line, the values of an object (for pairs also its keys with their values), and
    words and numbers with any punctuation between them. An introduction that ends in a colon
    and line numbers are ignored. A list or object of one item counts as that item, and the
    values of an object may come in any order. Where the expected values are not lists, the
    answer may group its values into lists or objects. Each value is compared as a number or as a
    whole text.
`set`
    Like a list, but in any order. Repeated values are ignored.
`none`
    `none`, `null`, `nothing`, `not found` or a similar phrase, also as the only value of an
    object. One sentence that says so (`there is no …`, `no film …`) is also right if it has
    at most twenty words, names no exception and has no numbers that the question lacks. An
    empty list is wrong, because a faulty program prints it too. So is a service's message
    about an id (`no film 'fm_23456'`).
`state`
    The answer is not read. `toolflow_bench.final_state` compares what the run wrote.

If a question has a `state` beside its answer, as an impossible request has, that state must match
too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.schema import Json
from toolflow_bench.answer_items import has_expected_items, iter_readings
from toolflow_bench.final_state import Snapshot, find_difference
from toolflow_bench.numbers import (
    find_numbers,
    fold,
    folded_words,
    is_near,
    leaves,
    parse_structure,
    whole_number,
)
from toolflow_bench.task import GradedQuestion

MOST_WORDS_OF_NONE = 20
"""Maximum number of words in a sentence that says that nothing was found."""

MOST_WORDS = 12
"""Maximum number of words in a text answer that are neither expected nor in the question."""

_SEPARATORS = re.compile(r"[,;|/\n&•]|\b(?:and|or|versus|vs)\b")
_NEGATED = re.compile(
    r"\b(?:not|never|neither|nor|except|without|isnt|wasnt)\W+(?:(?:a|an|the)\W+)?\x00"
)
_DATE_PARTS = re.compile(r"(?<=\d)[-:/](?=\d)")  # `2013-01-05` may be answered as "January 5, 2013"
_NONE = frozenset(
    {
        "none",
        "nothing",
        "nobody",
        "no one",
        "not found",
        "n a",
        "nil",
        "null",
        "no",
        "no match",
        "no result",
    }
)
_SAYS_NONE = re.compile(
    r"^\W*(?:(?:there|here) (?:is|are|was|were|exists?) (?:no|none|not any|nothing)\b"
    r"|(?:none|nothing|nobody|no one|no)\b"
    r"|(?:i )?(?:could not|couldnt|cannot|did not|didnt) (?:find|be found)\b|not found\b|not any\b)"
)
_EXCEPTS = re.compile(r"\b(?:except|excepting|but|only|however|besides|other than|apart from)\b")
_SPELLED = re.compile(r"\w+_\w+")
"""An id, tool name or key as programs write them, with underscores, such as `fm_23456`."""
_FUNCTION_WORDS = frozenset(
    folded_words(
        "a an the with at in on of by for from is was are were it its that which who because so "
        "as has had have this"
        " there to than more most but i we they be been being did does do"
    )
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The grade of one answer, right or wrong, with a short reason."""

    correct: bool
    reason: str


def grade(
    answer: str | None, expected: GradedQuestion, *, state: Snapshot | None = None
) -> Verdict:
    """Grade an answer, or the state that a run left, by the rules in this module's docstring.

    `state` is needed if the expected answer is a state, or has one.
    """
    if expected.type == "state":
        wrong = find_difference(state or {}, expected.answer, tolerance=expected.tolerance)
        return Verdict(wrong is None, wrong or "the state is as expected")
    if expected.state is not None and (
        wrong := find_difference(state or {}, expected.state, tolerance=expected.tolerance)
    ):
        return Verdict(False, wrong)
    if answer is None or not answer.strip():
        return Verdict(False, "no answer")
    said = folded_words(answer)
    if said and any(said == folded_words(spelling) for spelling in expected.accept):
        return Verdict(True, "an accepted spelling")
    return _GRADERS[expected.type](answer, expected)


def _number(answer: str, expected: GradedQuestion) -> Verdict:
    found = find_numbers(answer)
    if not found:
        return Verdict(False, "no number in the answer")
    whole = whole_number(answer)
    if whole is not None:
        return _verdict(
            is_near(whole, expected.answer, expected.tolerance), expected.answer, f"{whole:.12g}"
        )
    asked = {
        *find_numbers(expected.question),
        *find_numbers(_DATE_PARTS.sub(" ", expected.question)),
    }
    left = list(dict.fromkeys(number for number in found if number not in asked))
    if not left:
        return Verdict(False, "every number of the answer stands in the question")
    correct = all(is_near(number, expected.answer, expected.tolerance) for number in left)
    return _verdict(correct, expected.answer, _shorten_list([f"{number:.12g}" for number in left]))


def _text(answer: str, expected: GradedQuestion) -> Verdict:
    value = parse_structure(answer)
    if isinstance(value, dict | list):
        texts = _texts_of(value)
        if len(texts) != 1:
            return Verdict(False, f"a structure of {len(texts)} texts, one is wanted")
        answer = str(texts[0])
    spellings = sorted((expected.answer, *expected.accept), key=len, reverse=True)
    rest, repeats = _occurrence(expected.question).subn(" ", fold(answer))
    found = 0
    for spelling in spellings:
        rest, count = _occurrence(spelling).subn(" \x00 ", rest)
        found += count
    if not found:
        return Verdict(
            False, "only repeats the question" if repeats else f"does not say {expected.answer!r}"
        )
    if _NEGATED.search(rest):
        return Verdict(False, f"denies {expected.answer!r}")
    asked = set(folded_words(expected.question))
    beside = [word for word in folded_words(rest) if word not in asked]
    if len(beside) > MOST_WORDS:
        return Verdict(
            False, f"{len(beside)} words besides the answer, at most {MOST_WORDS} are allowed"
        )
    given_away = any(
        _occurrence(spelling).search(fold(expected.question)) for spelling in spellings
    )
    alternatives = _alternatives(rest, known=frozenset() if given_away else frozenset(asked))
    if alternatives:
        return Verdict(False, f"also names {_shorten_list(alternatives)}")
    return Verdict(True, f"says {expected.answer!r}")


def _texts_of(structure: Json) -> list[Json]:
    """Return the values of a structure (a list or object) that are not numbers.

    If all values are numbers, return all of them.
    """
    values = leaves(structure)
    return [value for value in values if not _is_number(value)] or values


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _alternatives(rest: str, *, known: frozenset[str]) -> list[str]:
    """Return the short items in an answer that name something other than the expected answer.

    `rest` is the answer, with a NUL character in place of the expected text. An item that contains
    a number is a detail, not an alternative.
    """
    found = []
    for item in _SEPARATORS.split(rest):
        said = folded_words(item)
        detail = (
            "\x00" in item or _FUNCTION_WORDS & set(said) or any(word.isdigit() for word in said)
        )
        if 1 <= len(said) <= 3 and not detail and not set(said) <= known:
            found.append(" ".join(said))
    return found


def _none(answer: str, expected: GradedQuestion) -> Verdict:
    value = parse_structure(answer)
    if isinstance(value, dict) and len(only := leaves(value)) == 1:
        answer = str(only[0])
    said = folded_words(answer)
    plain = " ".join(said)
    if plain in _NONE and not isinstance(parse_structure(answer), dict | list):
        return Verdict(True, "says that there is none")
    known = {
        *find_numbers(expected.question),
        *find_numbers(_DATE_PARTS.sub(" ", expected.question)),
    }
    new: list[float | str] = [number for number in find_numbers(answer) if number not in known]
    new += [name for name in _SPELLED.findall(answer) if name not in expected.question]
    if (
        not _SAYS_NONE.search(plain)
        or _EXCEPTS.search(plain)
        or new
        or len(said) > MOST_WORDS_OF_NONE
    ):
        return Verdict(False, f"does not say that there is none: {_shorten_list([answer.strip()])}")
    return Verdict(True, "says that there is none")


def _items(answer: str, expected: GradedQuestion) -> Verdict:
    """Grade an answer of the type `list` or `set`.

    The answer is right if one of the ways to read it as a list gives exactly the expected items.
    """
    wanted = expected.answer
    if has_expected_items(answer, expected):
        return Verdict(True, f"exactly the {len(wanted)} items")
    readings = list(iter_readings(answer))
    if not readings:
        return Verdict(False, "no list in the answer")
    return _verdict(False, wanted, _shorten_list([str(item) for item in max(readings, key=len)]))


def _occurrence(text: str) -> re.Pattern[str]:
    """Return a regular expression that finds the words of `text`, whatever separates them."""
    return re.compile(
        r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, folded_words(text))) + r"(?![^\W_])"
    )


def _verdict(correct: bool, wanted: Any, found: str) -> Verdict:
    return Verdict(
        correct, f"{found} as expected" if correct else f"{wanted!r} is expected, found {found}"
    )


def _shorten_list(items: Sequence[str]) -> str:
    shown = ", ".join(item[:40] for item in items[:5])
    return f"{shown}, … ({len(items)} in all)" if len(items) > 5 else shown


_GRADERS: Mapping[str, Callable[[str, GradedQuestion], Verdict]] = {
    "number": _number,
    "text": _text,
    "set": _items,
    "list": _items,
    "none": _none,
}
