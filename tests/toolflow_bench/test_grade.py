from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.labs.paths import DATA
from toolflow_bench.grade import grade
from toolflow_bench.numbers import leaves, parse_structure, whole_number
from toolflow_bench.task import GradedQuestion


def ask(question: str, answer: Any, type_: str, **more: Any) -> GradedQuestion:
    return GradedQuestion(id="q", question=question, answer=answer, type=type_, **more)  # type: ignore[arg-type]


MAKER = ask("Who built most of the planes?", "Boeing", "text")
AIRPORTS = ask("Which three airports are near?", ["JFK", "LGA", "EWR"], "set")
TABLE = yaml.safe_load((DATA / "grade.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["question"])
def test_table_answers_are_graded_right(row: dict[str, Any]) -> None:
    about = {"tolerance": row.get("tolerance", 0.0), "accept": tuple(row.get("accept", ()))}
    question = ask(row["question"], row["answer"], row["type"], **about)
    for name, right in (("right", True), ("wrong", False)):
        for answer in row.get(name, ()):
            verdict = grade(answer, question)
            assert verdict.correct is right, (answer, verdict.reason)


FLAT = [42, "Clarksville", "CKV", 3]


@pytest.mark.parametrize(
    "answer",
    [
        '[42, "Clarksville", ["CKV", 3]]',
        "[[42, 'Clarksville'], ('CKV', 3)]",
        '{"age": 42, "place": "Clarksville", "airport": ["CKV", 3]}',
        '[42, "Clarksville", {"code": "CKV", "count": 3}]',
    ],
)
def test_values_of_a_flat_answer_may_be_grouped(answer: str) -> None:
    for kind in ("list", "set"):
        assert grade(answer, ask("Say it.", FLAT, kind)).correct


@st.composite
def grouped(draw: st.DrawFn, values: list[Any]) -> list[Any]:
    """These values in this order, some of them in lists within the list."""
    cut = draw(st.integers(0, len(values)))
    end = draw(st.integers(cut, len(values)))
    group = [*values[:cut], values[cut:end], *values[end:]]
    return draw(grouped(group)) if draw(st.booleans()) else group


@given(st.data())
def test_grouping_makes_no_other_values_right(data: st.DataObject) -> None:
    """Neither an item more, nor one less, nor (of a list) another order."""
    wrong = list(FLAT)
    match data.draw(st.sampled_from(["more", "less", "order"])):
        case "more":
            wrong.insert(data.draw(st.integers(0, 4)), data.draw(st.sampled_from([*FLAT, "DEN"])))
        case "less":
            del wrong[data.draw(st.integers(0, 3))]
        case "order":
            wrong = data.draw(st.permutations(FLAT).filter(lambda found: found != FLAT))
    answer = data.draw(grouped(wrong))
    assert leaves(answer) == wrong != FLAT
    assert not grade(json.dumps(answer), ask("Say it.", FLAT, "list")).correct


def test_reasons_name_what_was_found() -> None:
    assert (
        grade("840 or 842", ask("How many?", 842, "number")).reason
        == "842 is expected, found 840, 842"
    )
    assert grade("DL", MAKER).reason == "does not say 'Boeing'"
    assert grade("Boeing/Airbus", MAKER).reason == "also names airbus"
    assert grade("JFK", AIRPORTS).reason == "['JFK', 'LGA', 'EWR'] is expected, found JFK"


def test_hostile_structures_are_only_text() -> None:
    assert parse_structure("[" * 100_000) is None
    assert parse_structure("[" + "9" * 5000 + "]") is None
    assert parse_structure("(" * 500 + ")" * 500) is None
    assert parse_structure("{[]: 1}") is None
    assert whole_number("__import__('os')") is None
    assert not grade("[" * 100_000, AIRPORTS).correct
    assert not grade("[[" * 5_000 + "842" + "]]" * 5_000, MAKER).correct


STATE = ask(
    "Book it.",
    {"flights": {"bookings": [{"seats": 2, "names": ["a", "b"]}, {"seats": 1, "names": []}]}},
    "state",
)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (
            {
                "flights": {
                    "bookings": [{"seats": 1, "names": []}, {"names": ["a", "b"], "seats": 2}]
                }
            },
            None,
        ),
        ({}, "flights bookings: {"),
        (
            {"flights": {"bookings": [{"seats": 2, "names": ["a", "b"]}]}},
            'bookings: {"seats": 1, "names": []} is missing',
        ),
        (
            {"flights": {"bookings": [*STATE.answer["flights"]["bookings"]] * 2}},
            "should not be there",
        ),
        (
            {**STATE.answer, "movies": {"watchlist": [{"film": 1}]}},
            'movies watchlist: {"film": 1} should not be there',
        ),
        (
            {
                "flights": {
                    "bookings": [{"seats": 1, "names": []}, {"seats": 2, "names": ["b", "a"]}]
                }
            },
            "is missing",
        ),
        (
            {
                "flights": {
                    "bookings": [{"seats": True, "names": []}, {"seats": 2, "names": ["a", "b"]}]
                }
            },
            "is missing",
        ),
    ],
)
def test_a_state_is_compared_whatever_is_said(state: Any, said: str | None) -> None:
    verdict = grade("anything", STATE, state=state)
    assert verdict.correct == (said is None)
    assert said is None or said in verdict.reason


def test_writes_count_even_where_nothing_is_said() -> None:
    assert grade(None, STATE, state=STATE.answer).correct
    assert not grade("done", STATE).correct
