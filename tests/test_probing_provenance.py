"""Where a program's values come from, as the pools and the links of a probing take them."""

import pytest

from probing.sample import Origin, Sample
from probing.teacher.provenance import Provenance
from protocols.protocol import HttpBinding, ToolProtocol

PROTOCOLS = {
    name: ToolProtocol(
        name=name,
        input_schema={"type": "object", "properties": {argument: {} for argument in arguments}},
        binding=HttpBinding(method="GET", url=f"https://air.example{path}"),
    )
    for name, path, arguments in (
        ("airports", "/airports", ["city"]),
        ("airport", "/airports/{code}", ["code"]),
        ("flights", "/flights", ["origin", "flight_ids", "year", "limit"]),
    )
}
AIRPORTS = Sample(
    number=4,
    tool="airports",
    response={"total": 2, "airports": [{"code": "MXP", "opened": 1948, "city": "Milan", "id": 90210, "open": True}]},
)
MODEL = Origin(kind="model")


def place(path, number=4, tool="airports"):
    return Origin(kind="response", tool=tool, path=path, sample=number)


def origin(program, tool, argument, value, *, run=(AIRPORTS,), shown=()):
    return Provenance(program, PROTOCOLS, shown).origin(tool, argument, value, run)


CARRIED = "airport(code=airports(city='Milan')['airports'][0]['code'])"


@pytest.mark.parametrize(
    ("tool", "argument", "value", "found"),
    [
        ("airport", "code", "MXP", place("airports[].code")),
        ("flights", "origin", "MXP", place("airports[].code")),  # no name tells, but it can come from nowhere else
        ("flights", "origin", 90210, place("airports[].id")),
        ("flights", "origin", "90210", place("airports[].id")),  # the same in a URL
        ("flights", "flight_ids", ["MXP"], place("airports[].code")),
        ("flights", "flight_ids", ["MXP", "LIN"], MODEL),
        ("flights", "limit", 2, MODEL),  # a count is found anywhere
        ("flights", "year", 1948, MODEL),
        ("flights", "limit", True, MODEL),
        ("flights", "origin", None, MODEL),
        ("flights", "origin", {"code": "MXP"}, MODEL),
        ("flights", "origin", "LIN", MODEL),
        ("flights", "flight_ids", [], MODEL),
    ],
)
def test_what_the_program_does_not_spell_was_carried_over(tool, argument, value, found):
    assert origin(CARRIED, tool, argument, value) == found


@pytest.mark.parametrize(
    ("program", "argument", "value", "found"),
    [
        ("airport(code='MXP')", "code", "MXP", place("airports[].code")),  # copied from what the prompt showed
        ("airport(code='LIN')", "code", "LIN", MODEL),
        ("airport(code='Milan')", "code", "Milan", MODEL),  # a value of the prompt, but of another kind
    ],
)
def test_what_it_spells_comes_from_a_place_of_that_name_or_from_the_model(program, argument, value, found):
    assert origin(program, "airport", argument, value, run=(), shown=(AIRPORTS,)) == found


def test_the_latest_call_of_the_run_goes_first():
    later = Sample(number=9, tool="airports", response={"airports": [{"code": "MXP"}]})
    assert origin(CARRIED, "airport", "code", "MXP", run=(AIRPORTS, later)).sample == 9


def test_what_was_shown_and_is_not_spelled_was_not_carried():
    assert origin("airport(code='M' + 'XP')", "airport", "code", "MXP", run=(), shown=(AIRPORTS,)) == MODEL


def test_a_refusal_gives_no_values():
    refusal = Sample(number=5, tool="airports", outcome="refused", response={"code": "MXP"})
    assert origin(CARRIED, "airport", "code", "MXP", run=(refusal,)) == MODEL


def test_a_program_that_is_none_spells_nothing():
    assert origin("airport(", "airport", "code", "MXP") == place("airports[].code")
