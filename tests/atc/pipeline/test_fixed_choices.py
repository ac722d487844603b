"""Arguments that select a part of a period, and have one constant in a program."""

import pytest

from atc.core.program import Program
from atc.pipeline.fixed_choices import find_fixed_choices
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from tests.labs.tools import tool

HOUR = {"type": "integer", "minimum": 0, "maximum": 23}
WEEKDAY = {"type": "string", "enum": ["Mon", "Tue", "Wed"]}


STARS = {"type": "integer", "minimum": 1, "maximum": 5}
TOOLS = Toolbox(
    [
        tool("weather", None, {"date": "string", "hour": HOUR}),
        tool("opening", None, {"weekday": WEEKDAY}),
        tool("optional", None, {"hour": HOUR}, optional=["hour"]),
        tool("book", None, {"hour": HOUR}, reads=False),
        tool("rate", None, {"stars": STARS}),
        tool("rain", None, {"day": "string"}),
    ]
)


def of(task, source, *calls):
    made = [
        ToolCall(index=n, tool=name, arguments=arguments, line=1)
        for n, (name, arguments) in enumerate(calls)
    ]
    return [one.argument for one in find_fixed_choices(task, Program(source), made, TOOLS)]


@pytest.mark.parametrize(
    ("task", "source", "calls", "found"),
    [
        ("Rain on 12 May?", "weather(date='d', hour=12)", [("weather", {"hour": 12})], ["hour"]),
        ("Rain?", "h = 9\nweather(hour=h)", [("weather", {"hour": 9})], ["hour"]),
        ("Rain?", "for h in [9]:\n    weather(hour=h)", [("weather", {"hour": 9})], ["hour"]),
        ("Open?", "opening(weekday='Mon')", [("opening", {"weekday": "Mon"})], ["weekday"]),
        ("Rain at hour 12?", "weather(hour=12)", [("weather", {"hour": 12})], []),
        ("Rain at noon?", "weather(hour=12)", [("weather", {"hour": 12})], []),
        ("Rain at 15:00?", "weather(hour=15)", [("weather", {"hour": 15})], []),
        ("Open on Mondays?", "opening(weekday='Mon')", [("opening", {"weekday": "Mon"})], []),
        (
            "Rain?",
            "for h in range(24):\n    weather(hour=h)",
            [("weather", {"hour": 0}), ("weather", {"hour": 1})],
            [],
        ),
        ("Rain?", "h = f['hour']\nweather(hour=h)", [("weather", {"hour": 7})], []),
        ("Rain?", "optional(hour=7)", [("optional", {"hour": 7})], []),
        ("Book it", "book(hour=7)", [("book", {"hour": 7})], []),
        ("Rate it", "rate(stars=5)", [("rate", {"stars": 5})], []),
    ],
)
def test_one_part_for_a_whole_period(task, source, calls, found):
    assert of(task, source, *calls) == found


@pytest.mark.parametrize(
    ("task", "day", "found"),
    [
        ("On how many days of July 2013 was it hot?", "2013-07-01", ["day"]),
        ("The rain in May", "2013-05-31", ["day"]),
        ("The rain in June", "2013-07-01", []),
        ("The rain on 4 July 2013, the wettest of July", "2013-07-04", []),
        ("The rain on July 4th, in July", "2013-07-04", []),
        ("The rain at the end of July", "2013-07-31", []),
        ("It may rain", "2013-05-01", []),
    ],
)
def test_one_date_for_a_whole_month(task, day, found):
    assert of(task, f"rain(day={day!r})", ("rain", {"day": day})) == found
    twice = [("rain", {"day": day}), ("rain", {"day": "2013-01-01"})]
    assert of(task, f"rain(day={day!r})", *twice) == []
