"""FuncQA's operations and questions, and KAMEL's relations: what the data say, and what our tools make of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from protocols.errors import ToolError
from protocols.schema import violations
from toolflow_bench.decoding.data import InvalidDecodingData, draw
from toolflow_bench.decoding.frame import Case
from toolflow_bench.decoding.funcqa.data import FuncQuestion, GoldCall, gold_calls, read_questions, training_calls
from toolflow_bench.decoding.funcqa.operations import operations
from toolflow_bench.decoding.funcqa.suite import agrees
from toolflow_bench.decoding.kamel.relations import Relation, read_kamel, unique_names

DATA = Path(__file__).parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
TOOLS = operations()


def compute(name: str, *numbers: float) -> Any:
    """What an operation gives for its arguments in order."""
    tool = TOOLS[name]
    return tool.unwrap(tool.call(dict(zip(tool.protocol.parameters, numbers, strict=False))))


@pytest.mark.parametrize(
    ("name", "numbers", "result"),
    [
        ("add", (1, 2, 3, 4), 10),
        ("add", (0.1, 0.2, 0.3), 0.6),
        ("subtract", (5, 7.5), -2.5),
        ("multiply", (2, 3, 4), 24),
        ("divide", (7, 2), 3.5),
        ("power", (3, 24), 282429536481),
        ("power", (2, -1), 0.5),
        ("power", (2.0, 3.0), 8),
        ("sqrt", (2.25,), 1.5),
        ("log", (1000,), 3),
        ("ln", (math.e,), 1),
        ("lcm", (4, 6, 10), 60),
        ("gcd", (66, 34, 54, 32), 2),
        ("remainder", (854, 123), 116),
        ("choose", (45, 7), 45379620),
        ("choose", (3, 5), 0),
        ("permutate", (7, 7), 5040),
    ],
)
def test_operations_compute(name: str, numbers: tuple[float, ...], result: float) -> None:
    assert compute(name, *numbers) == pytest.approx(result)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("divide", (1, 0)),
        ("sqrt", (-1,)),
        ("log", (0,)),
        ("power", (0, -1)),
        ("power", (-8, 0.5)),
        ("power", (7, 10**14)),
        ("power", (1e300, 2)),
        ("choose", (10**15, 10**14)),
        ("permutate", (10**9, 10**8)),
        ("multiply", (1e300, 1e300)),
    ],
)
def test_operations_refuse_what_has_no_result_or_never_ends(name: str, numbers: tuple[float, ...]) -> None:
    with pytest.raises(ToolError, match="no result"):
        compute(name, *numbers)


def test_schemas_hold_the_ranges_of_functions() -> None:
    wrong = {
        "log": {"x": 0},
        "sqrt": {"x": -1},
        "lcm": {"a": 0, "b": 2},
        "remainder": {"a": 5, "b": 0},
        "add": {"a": 1},
    }
    for name, arguments in wrong.items():
        assert violations(TOOLS[name].protocol.input_schema, arguments), name
    assert not violations(TOOLS["add"].protocol.input_schema, {"a": 1, "b": 2.5, "c": 3})


def test_gold_calls_are_read_as_either_file_writes_them() -> None:
    written = [
        {"name": "add", "args": ["1", "2"], "result": "3"},
        {"raw": "-<log>(0.1)=1"},
        "<power>(2, 8/5)=3.03<eoe>",
    ]
    assert list(gold_calls(written)) == [
        GoldCall(name="add", arguments=("1", "2"), result="3"),
        GoldCall(name="log", arguments=("0.1",), result="1", negated=True),
        GoldCall(name="power", arguments=("2", "8/5"), result="3.03"),
    ]


def test_an_answer_is_right_within_a_thousandth() -> None:
    question = FuncQuestion(id="q", question="?", expected=1000.0)
    assert question.accepts(1000.9)
    assert not question.accepts(1001.1)
    assert not question.accepts(-1000.0)
    minus = FuncQuestion(
        id="q", question="?", expected=4.0787, calls=(GoldCall(name="log", arguments=("x",), negated=True),)
    )
    assert minus.accepts(-4.0787)
    assert minus.accepts(4.0787)


@pytest.mark.parametrize("key", ["one_hop", "multi_hop"])
def test_questions_are_found_under_any_name(tmp_path: Path, key: str) -> None:
    rows = [{"question": " What is  1 + 1? ", "answer": "2", "calls": [{"raw": "<add>(1,1)=2"}]}]
    file = tmp_path / "other.json"
    file.write_text(json.dumps({"tools": ["<add>"], key: rows}))
    assert read_questions(file) == [
        FuncQuestion(
            id="q-0",
            question="What is 1 + 1?",
            expected=2.0,
            gold=("add",),
            calls=(GoldCall(name="add", arguments=("1", "1"), result="2"),),
        )
    ]


@pytest.mark.parametrize("content", ["", "[]", "{}", '[{"question": "?"}]', '[{"question": "?", "answer": "many"}]'])
def test_bad_questions_are_told(tmp_path: Path, content: str) -> None:
    file = tmp_path / "one_hop.json"
    file.write_text(content)
    with pytest.raises(InvalidDecodingData, match="one_hop"):
        read_questions(tmp_path)


def test_missing_data_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidDecodingData, match="give --data"):
        read_kamel(tmp_path)


def test_a_larger_sample_keeps_what_a_smaller_one_asks() -> None:
    cases = [Case(id=f"q-{number}", question="?") for number in range(50)]
    small, large = draw(cases, 10, seed=3), draw(cases, 20, seed=3)
    assert [case for case in large if case in small] == small
    assert draw(cases, None, seed=3) == cases
    assert draw(cases, 10, seed=4) != small


def kamel(folder: Path, relations: dict[str, str], tests: dict[str, list[tuple[str, str]]]) -> Path:
    """A file of KAMEL's shape."""
    rows = {size: [{"question": question, "api": api} for question, api in some] for size, some in tests.items()}
    (folder / "relations_dev.json").write_text(json.dumps({"api_desc": relations, "tests": rows}))
    return folder


RELATIONS = {
    "P1": "location(name): gets the country where a location is located.",
    "P2": "matches_played(title/name): gets the number of matches played.",
    "P3": "winner(event, year): gets the winner.",
    "P4": "location(name): gets the location of a place.",
    "P5": "location(name): gets the location of a place.",
    "P6": "location_5(name): taken already",
}


def test_relations_become_tools_and_duplicates_are_told_apart(tmp_path: Path) -> None:
    data = read_kamel(kamel(tmp_path, RELATIONS, {"2": [("Where is X?", "P1")]}))
    first, _ = data.toolbox(3)
    assert list(first) == ["location", "matches_played", "winner"]
    assert dict(first["matches_played"].arguments) == {"title_name": "title/name"}
    assert first["winner"].required == {"event", "year"}
    tools, aliases = data.toolbox(6)
    assert aliases["P1"] == "location_country"
    assert len(set(aliases.values())) == len(tools) == 6
    assert set(aliases) == set(RELATIONS)


def test_names_stay_unique_where_numbers_are_taken() -> None:
    same = [Relation(id=str(n), name="a", arguments=("x",), does="the same") for n in range(3)]
    other = [
        Relation(id="o", name="a_2", arguments=("x",), does="another"),
        Relation(id="p", name="a_1", arguments=(), does=""),
    ]
    names = unique_names([*same, *other])
    assert len(set(names.values())) == 5
    assert names["o"] == "a_2"


def test_a_test_asks_only_of_what_is_offered(tmp_path: Path) -> None:
    tests = {"2": [("Where is X?", "P1")], "3": [("Who won X?", "P3")]}
    data = read_kamel(kamel(tmp_path, RELATIONS, tests))
    assert [data.test(count)[0] for count in (2, 3, 5)] == [2, 3, 3]
    with pytest.raises(InvalidDecodingData, match="not 7"):
        data.test(7)
    data = read_kamel(kamel(tmp_path, RELATIONS, {"3": [("Who won X?", "P3")]}))
    with pytest.raises(InvalidDecodingData, match="more"):
        data.test(2)


@needs_data
def test_the_operations_compute_what_funcqa_says() -> None:
    calls = training_calls(DATA / "funcqa")
    odd = [call for call in calls if agrees(call, TOOLS) is not True]
    assert len(calls) == 647
    # Six quotients with their arguments the wrong way round, one sum of a series, one argument that is a difference.
    assert [(call.name, call.arguments) for call in odd if call.name != "divide"] == [
        ("permutate", ("10", "10-3")),
        ("add", ("2", "1")),
    ]
    assert sum(call.name == "divide" for call in odd) == 6
    assert all(question.gold for question in read_questions(DATA / "funcqa"))


@needs_data
def test_kamel_is_read_whole() -> None:
    data = read_kamel(DATA / "kamel")
    assert {size: len(cases) for size, cases in data.tests.items()} == {10: 500, 20: 500, 30: 500}
    tools, aliases = data.toolbox(234)
    assert len(tools) == len(set(aliases.values())) == 234
    assert list(data.toolbox(30)[1].values())[:2] == ["broadcasted_places", "main_topics"]
