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
    commas, `/`, `and`, `or` or line ends. A structure (JSON or Python) has the text as its only text, beside numbers at
    most. The question itself, repeated, is set aside.
`list`
    The expected values in order and nothing else, in any plain shape: a JSON or Python list, one on each line, an
    object's values (for pairs also its keys with their values), or words and numbers with whatever punctuation between
    them, after an optional `…:`, numbered or not. A list or object of one item stands for that item, and the values of
    an object come in any order. Each value is compared as a number or as a whole text.
`set`
    As a list, but in any order, and repeats do not matter.
`none`
    `none`, `null`, `nothing`, `not found` or the like, also as the only value of an object, or one sentence that says
    so (`there is no …`, `no film …`) and makes no exception, of at most twenty words and without numbers that the
    question lacks. An empty list says nothing: a program that went wrong prints it too; so does what a service says of
    an id (`no film 'fm_23456'`).
`state`
    Not by what is said: by what the run's writes left. `toolflow_bench.final_state` compares it.

Where a question has a `state` beside its answer, as one that cannot be done has, that must be left too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.schema import Json
from toolflow_bench.final_state import Snapshot, find_difference
from toolflow_bench.numbers import (
    find_numbers,
    fold,
    folded_words,
    leaves,
    parse_structure,
    whole_number,
)
from toolflow_bench.task import GradedQuestion

MOST_WORDS_OF_NONE = 20
"""Words of a sentence that says that there is none."""

MOST_WORDS = 12
"""Words that a text answer may have besides the expected ones and those of the question."""

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
"""An id, a tool or a key, as programs spell them."""
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_FUNCTION_WORDS = frozenset(
    folded_words(
        "a an the with at in on of by for from is was are were it its that which who because so as has had have this"
        " there to than more most but i we they be been being did does do"
    )
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an answer is right, and why in a few words."""

    correct: bool
    reason: str


def grade(
    answer: str | None, expected: GradedQuestion, *, state: Snapshot | None = None
) -> Verdict:
    """Compare `answer`, or the `state` that a run left, with what `expected` wants, as the module's docstring says."""
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
            _is_near(whole, expected.answer, expected.tolerance), expected.answer, f"{whole:.12g}"
        )
    asked = {
        *find_numbers(expected.question),
        *find_numbers(_DATE_PARTS.sub(" ", expected.question)),
    }
    left = list(dict.fromkeys(number for number in found if number not in asked))
    if not left:
        return Verdict(False, "every number of the answer stands in the question")
    correct = all(_is_near(number, expected.answer, expected.tolerance) for number in left)
    return _verdict(correct, expected.answer, _shorten_list([f"{number:.12g}" for number in left]))


def _text(answer: str, expected: GradedQuestion) -> Verdict:
    value = parse_structure(answer)
    if isinstance(value, dict | list):
        values = leaves(value)
        texts = [
            one for one in values if not isinstance(one, int | float) or isinstance(one, bool)
        ] or values
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


def _alternatives(rest: str, *, known: frozenset[str]) -> list[str]:
    """Short items of a list that are not the answer (a NUL in `rest`); those with a bare number in them are details."""
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
    """For `list` and `set`: each reading of the answer as items, then its words and numbers one after the other."""
    wanted = expected.answer
    readings = list(_readings(answer))
    if any(_has_expected_items(items, expected) for items in readings) or any(
        _has_expected_words(text, expected) for text in _bodies(answer)
    ):
        return Verdict(True, f"exactly the {len(wanted)} items")
    if not readings:
        return Verdict(False, "no list in the answer")
    return _verdict(False, wanted, _shorten_list([str(item) for item in max(readings, key=len)]))


def _has_expected_items(items: Sequence[Json], expected: GradedQuestion) -> bool:
    wanted = expected.answer
    tolerance = expected.tolerance
    if expected.type == "list":
        pairs = zip(items, wanted, strict=False)
        return len(items) == len(wanted) and all(
            _is_same(one, other, tolerance) for one, other in pairs
        )
    every = all(any(_is_same(item, one, tolerance) for one in wanted) for item in items)
    return every and all(any(_is_same(item, one, tolerance) for item in items) for one in wanted)


def _readings(answer: str) -> Iterator[list[Json]]:
    """Each way in which the answer can be read as a list of items."""
    value = parse_structure(answer)
    lines = [line for line in answer.splitlines() if line.strip()]
    if (
        value is None
        and len(lines) > 1
        and all(parse_structure(line) is not None for line in lines)
    ):
        value = [parse_structure(line) for line in lines]
    while (
        isinstance(value, dict | list)
        and len(value) == 1
        and isinstance(_values(value)[0], dict | list)
    ):
        value = _values(value)[0]
    if isinstance(value, dict | list):
        yield _values(value)
        if isinstance(value, dict):
            yield [
                [key, *(_values(part) if isinstance(part, list) else [part])]
                for key, part in value.items()
            ]
        return
    for body in _bodies(answer):
        for separator in (r"\n", r"[,;\n]", r"[,;\n]|\band\b"):
            if kept := [
                item for one in re.split(separator, body) if (item := one.strip(" \t\r.`'\""))
            ]:
                yield kept


def _bodies(answer: str) -> list[str]:
    """The answer without bullets and numbers of lines; and again without what stands before a colon."""
    plain = "\n".join(_BULLET.sub("", line) for line in answer.splitlines())
    return [plain, plain.partition(":")[2]] if ":" in plain else [plain]


def _values(value: Json) -> list[Json]:
    return (
        list(value.values())
        if isinstance(value, dict)
        else list(value)
        if isinstance(value, list)
        else [value]
    )


def _has_expected_words(text: str, expected: GradedQuestion) -> bool:
    """Whether the words and numbers of a text are those of the expected items, one after the other."""
    if isinstance(parse_structure(text), dict | list) or any(
        re.search(r"[{\[(]\s*['\"]", line) for line in text.splitlines()
    ):
        return False
    tokens = _tokens(text)
    items = [_tokens(" ".join(map(str, _values(item)))) for item in expected.answer]

    def follows(item: Sequence[str], at: int) -> bool:
        return len(tokens) >= at + len(item) and all(
            _is_same(token, _number_or(one), expected.tolerance)
            for token, one in zip(tokens[at:], item, strict=False)
        )

    at = 0
    left = list(range(len(items)))
    found: set[int] = set()
    while at < len(tokens):
        choice = (
            left[:1]
            if expected.type == "list"
            else sorted(range(len(items)), key=lambda n: -len(items[n]))
        )
        number = next((number for number in choice if follows(items[number], at)), None)
        if number is None:
            return False
        at = at + len(items[number])
        found = found | {number}
        left = left[1:]
    return len(found) == len(items)


def _tokens(text: str) -> list[str]:
    """Words and numbers (`2,500` is one, `-3.5` too), without `and`."""
    found = re.findall(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?!\w)|[^\W_]+", fold(text))
    return [word for word in found if word != "and"]


def _number_or(token: str) -> Json:
    try:
        return float(token)
    except ValueError:
        return token


def _is_same(item: Json, wanted: Json, tolerance: float) -> bool:
    if isinstance(item, dict) and isinstance(wanted, list):
        left = list(item.values())
        for one in wanted:
            match = next(
                (number for number, other in enumerate(left) if _is_same(other, one, tolerance)),
                None,
            )
            if match is None:
                return False
            del left[match]
        return not left
    if isinstance(wanted, list):
        pairs = zip(item, wanted, strict=False) if isinstance(item, list) else ()
        return (
            isinstance(item, list)
            and len(item) == len(wanted)
            and all(_is_same(a, b, tolerance) for a, b in pairs)
        )
    if isinstance(item, dict | list) and len(item) == 1:
        item = _values(item)[0]
    if not isinstance(item, str | int | float) or isinstance(item, bool):
        return False
    if isinstance(wanted, str):
        return folded_words(str(item)) == folded_words(wanted)
    value = whole_number(str(item))
    return value is not None and _is_near(value, wanted, tolerance)


def _is_near(value: float, wanted: float, tolerance: float) -> bool:
    slack = 1e-9 * max(1.0, abs(wanted))  # what binary fractions lose
    return abs(value - wanted) <= tolerance + slack


def _occurrence(text: str) -> re.Pattern[str]:
    """`text` as whole words, whatever stands between them."""
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
