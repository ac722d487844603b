from __future__ import annotations

from typing import Any

import pytest

from toolflow_bench.grade import grade
from toolflow_bench.numbers import numbers, structure, whole_number
from toolflow_bench.task import Question

DEPARTURES = "How many flights left JFK on 2013-01-05, and not after 10 at night?"
MAKER = "Which manufacturer built most of the planes that flew from JFK to LAX on 2013-01-01?"
RIVALS = "Which carrier had more flights in June 2013, UA or DL?"
AIRPORTS = "Which three airports near New York are in the data?"
TOP = "Which 3 carriers flew most, the busiest first?"


def ask(question: str, answer: Any, type_: str, **more: Any) -> Question:
    return Question(id="q", question=question, answer=answer, type=type_, **more)  # type: ignore[arg-type]


NUMBER = ask(DEPARTURES, 842, "number")
MEAN = ask("What was the mean delay, in minutes?", 12.64, "number", tolerance=0.05)
BIG = ask("How many flights are there?", 58665, "number")
TEN = ask("Were there 10 flights or fewer? How many?", 10, "number")
COLD = ask("How cold was it?", -5, "number")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (NUMBER, "842"),
        (NUMBER, "842.0"),
        (NUMBER, "There were 842 flights from JFK on 2013-01-05."),
        (NUMBER, "On January 5, 2013, 842 flights left before 22:00."),
        (NUMBER, '{"count": 842}'),
        (NUMBER, "**842**"),
        (NUMBER, "842; so 842 it is"),
        (NUMBER, "842 of the planes, N14228 among them"),
        (MEAN, "12.6"),
        (MEAN, "about 12.638, that is 12.64"),
        (MEAN, "1.264e1"),
        (BIG, "58,665"),
        (BIG, "58\u202f665 flights"),
        (BIG, "$58,665.00"),
        (TEN, "10 flights"),
        (COLD, "−5 °C"),
    ],
)
def test_right_numbers(question: Question, answer: str) -> None:
    assert grade(answer, question).correct, grade(answer, question).reason


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (NUMBER, None),
        (NUMBER, ""),
        (NUMBER, "nan"),
        (NUMBER, "true"),
        (NUMBER, DEPARTURES),
        (NUMBER, "843"),
        (NUMBER, "84,2"),
        (NUMBER, "-842"),
        (NUMBER, "842 or 843"),
        (NUMBER, '{"count": 842, "page": 7}'),
        (NUMBER, "1842"),
        (NUMBER, "N842"),
        (NUMBER, "1.842.3"),
        (NUMBER, "8:42"),
        (MEAN, "12.7"),
        (MEAN, "0.1264"),
        (BIG, "58, 665"),
        (BIG, "[58,665]"),
        (TEN, "fewer than 10"),
        (COLD, "10-5"),
    ],
)
def test_wrong_numbers(question: Question, answer: str | None) -> None:
    assert not grade(answer, question).correct, grade(answer, question).reason


BOEING = ask(MAKER, "Boeing", "text")
UNITED = ask("Which airline is meant by UA?", "United Air Lines Inc.", "text", accept=("United Airlines",))
RIVAL = ask(RIVALS, "UA", "text", accept=("United",))
PLACE = ask("Where is it?", "Jackson, WY", "text")
OHARE = ask("Where did it go?", "Chicago O'Hare", "text")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (BOEING, "BOEING"),
        (BOEING, "['Boeing']"),
        (BOEING, "Most of the planes were built by Boeing."),
        (BOEING, "Boeing, with 4 planes"),
        (BOEING, '{"manufacturer": "BOEING", "planes": 4}'),
        (BOEING, "Boeing (17 planes)"),
        (UNITED, "UA is United Airlines"),
        (RIVAL, "UA"),
        (RIVAL, "UA had more flights"),
        (PLACE, "jackson wy"),
        (OHARE, "Chicago O’Hare Intl"),
        (ask("Where?", "São Paulo", "text"), "Sao Paulo"),
    ],
)
def test_right_texts(question: Question, answer: str) -> None:
    assert grade(answer, question).correct, grade(answer, question).reason


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (BOEING, None),
        (BOEING, MAKER),
        (BOEING, "Airbus"),
        (BOEING, "Boeings"),
        (BOEING, "not Boeing"),
        (BOEING, "Airbus, Boeing, Embraer"),
        (BOEING, '["Airbus", "Boeing"]'),
        (BOEING, '[{"manufacturer": "BOEING", "n": 4}, {"manufacturer": "AIRBUS", "n": 2}]'),
        (BOEING, "Boeing " + " ".join(f"word{i} " for i in range(13))),
        (UNITED, "United"),
        (RIVAL, RIVALS),
        (RIVAL, "DL"),
        (PLACE, "Jackson"),
    ],
)
def test_wrong_texts(question: Question, answer: str | None) -> None:
    assert not grade(answer, question).correct, grade(answer, question).reason


NEAR = ask(AIRPORTS, ["JFK", "LGA", "EWR"], "set")
ORDER = ask(TOP, ["UA", "B6", "EV"], "list")
PAIRS = ask(TOP, [["UA", 58665], ["B6", 54635]], "list")
DISTANCES = ask("How far?", [["Havana", 658.6], ["São Paulo", 12]], "set", tolerance=0.05)
YEARS = ask("Which years?", [2001, 2003.5], "set", tolerance=0.1)
NOBODY = ask("Which planes?", [], "set", accept=("none at all",))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (NEAR, "JFK, LGA, EWR"),
        (NEAR, "EWR, jfk and LGA."),
        (NEAR, '["EWR", "LGA", "JFK"]'),
        (NEAR, "1. JFK\n2. LGA\n3. EWR"),
        (NEAR, "The airports: JFK, LGA, EWR"),
        (NEAR, "JFK, LGA, EWR, JFK"),
        (NEAR, '{"airports": ["JFK", "LGA", "EWR"]}'),
        (ORDER, "['UA', 'B6', 'EV']"),
        (PAIRS, "[('UA', 58665), ('B6', 54635)]"),
        (PAIRS, '{"UA": 58665, "B6": 54635}'),
        (PAIRS, '[{"flights": 58665, "carrier": "UA"}, {"flights": 54635, "carrier": "B6"}]'),
        (PAIRS, "UA 58665\nB6 54635"),
        (PAIRS, "1. UA: 58,665\n2. B6: 54,635"),
        (PAIRS, "('UA', 58665)\n('B6', 54635)"),
        (PAIRS, "UA (58665), B6 (54635)"),
        (DISTANCES, "Havana 658.6\nSão Paulo 12"),
        (DISTANCES, "Sao Paulo: 12.0; Havana: 658.62"),
        (NEAR, "JFK LGA EWR"),
        (NEAR, '[["JFK", "LGA", "EWR"]]'),
        (NEAR, '[{"code": "JFK"}, {"code": "LGA"}, {"code": "EWR"}]'),
        (NEAR, '{"one": "JFK", "two": "LGA", "three": "EWR"}'),
        (YEARS, "2003.45 and 2001"),
        (NOBODY, "[]"),
        (NOBODY, "None at all."),
        (ask("Where?", ["Jackson, WY", "Boise, ID"], "set"), "Boise, ID\nJackson, WY"),
    ],
)
def test_right_items(question: Question, answer: str) -> None:
    assert grade(answer, question).correct, grade(answer, question).reason


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (NEAR, None),
        (NEAR, AIRPORTS),
        (NEAR, "JFK, LGA, EWR, BOS"),
        (NEAR, '{"JFK": 1, "LGA": 2, "EWR": 3}'),
        (NEAR, "JFK is nearer than LGA and EWR"),
        (NEAR, '[{"code": "JFK", "id": 1}, {"code": "LGA", "id": 2}, {"code": "EWR", "id": 3}]'),
        (ORDER, "B6, UA, EV"),
        (PAIRS, "UA 58665\nB6 54636"),
        (PAIRS, "B6 54635\nUA 58665"),
        (DISTANCES, "Havana -658.6\nSão Paulo 12"),
        (DISTANCES, "Havana 12\nSão Paulo 658.6"),
        (DISTANCES, "Havana 658.6\nSão Paulo 12\nLima 5"),
        (ORDER, "UA, B6, EV, EV"),
        (YEARS, "[2001, 2003.5, true]"),
        (YEARS, "2001, 2003.5, nan"),
        (NOBODY, "None"),
        (NOBODY, ""),
    ],
)
def test_wrong_items(question: Question, answer: str | None) -> None:
    assert not grade(answer, question).correct, grade(answer, question).reason


def test_reasons_name_what_was_found() -> None:
    assert grade("840 or 842", NUMBER).reason == "842 is expected, found 840, 842"
    assert grade("DL", BOEING).reason == "does not say 'Boeing'"
    assert grade("Boeing/Airbus", BOEING).reason == "also names airbus"
    assert grade("JFK", NEAR).reason == "['JFK', 'LGA', 'EWR'] is expected, found JFK"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,234,567.5 and 12,345,67", [1234567.5, 12, 345, 67]),
        (".5 -.5 +3 1e3 -2.5E-1", [0.5, -0.5, 3, 1000, -0.25]),
        ("5km 7% $-3 -$4 (9) 2013-14", [5, 7, -3, -4, 9, 2013, 14]),
        ("v1.2.3 N14228 B6 x2 1st 1e999", [1]),
        ("[1,234]", [1, 234]),
    ],
)
def test_numbers_in_text(text: str, found: list[float]) -> None:
    assert numbers(text) == found


def test_hostile_structures_are_only_text() -> None:
    assert structure("[" * 100_000) is None
    assert structure("[" + "9" * 5000 + "]") is None
    assert structure("(" * 500 + ")" * 500) is None
    assert structure("{[]: 1}") is None
    assert whole_number("__import__('os')") is None
    assert not grade("[" * 100_000, NEAR).correct
    assert not grade("[[" * 5_000 + "842" + "]]" * 5_000, BOEING).correct


NONE = ask("Which of the 3 airlines flew to the moon on 2013-01-05? Say none if there is none.", None, "none")


@pytest.mark.parametrize(
    "answer",
    [
        "none",
        "Not found",
        "nothing",
        "There is none.",
        "There were no such flights on 2013-01-05.",
        "No airline flew there.",
        "None of the 3 airlines did.",
        "I could not find any.",
        '{"answer": null}',
        '{"answer": "none"}',
    ],
)
def test_none_is_said_in_many_ways(answer: str) -> None:
    assert grade(answer, NONE).correct, grade(answer, NONE).reason


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Delta",
        "0.0 or 5",
        "None of them except Delta",
        "No, only Delta did",
        "No. 17",
        "nonesuch airlines",
        "There is no doubt: 42",
        "No " + "word " * 30,
        "Which of the 3 airlines flew to the moon on 2013-01-05? Say none if there is none.",
        "Error: not a number",
        "[]",
        '{"answer": []}',
        "There is no series 'se_23456'; list_postseason_series gives ids.",
        "No flight fl_22222 was found.",
    ],
)
def test_what_does_not_say_none_is_wrong(answer: str) -> None:
    assert not grade(answer, NONE).correct


STATE = ask(
    "Book it.", {"flights": {"bookings": [{"seats": 2, "names": ["a", "b"]}, {"seats": 1, "names": []}]}}, "state"
)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"flights": {"bookings": [{"seats": 1, "names": []}, {"names": ["a", "b"], "seats": 2}]}}, None),
        ({}, "flights bookings: {"),
        (
            {"flights": {"bookings": [{"seats": 2, "names": ["a", "b"]}]}},
            'bookings: {"seats": 1, "names": []} is missing',
        ),
        ({"flights": {"bookings": [*STATE.answer["flights"]["bookings"]] * 2}}, "should not be there"),
        ({**STATE.answer, "movies": {"watchlist": [{"film": 1}]}}, 'movies watchlist: {"film": 1} should not be there'),
        ({"flights": {"bookings": [{"seats": 1, "names": []}, {"seats": 2, "names": ["b", "a"]}]}}, "is missing"),
        ({"flights": {"bookings": [{"seats": True, "names": []}, {"seats": 2, "names": ["a", "b"]}]}}, "is missing"),
    ],
)
def test_a_state_is_compared_whatever_is_said(state: Any, said: str | None) -> None:
    verdict = grade("anything", STATE, state=state)
    assert verdict.correct == (said is None)
    assert said is None or said in verdict.reason


def test_writes_count_even_where_nothing_is_said() -> None:
    assert grade(None, STATE, state=STATE.answer).correct
    assert not grade("done", STATE).correct
