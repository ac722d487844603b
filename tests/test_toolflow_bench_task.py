from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolflow_bench.suites import SUITES, UnknownSuite, find_suite
from toolflow_bench.suites.flights import load
from toolflow_bench.task import InvalidTask, Question, load_questions

GOOD: dict[str, Any] = {"id": "a", "question": "How many?", "answer": 5, "type": "number"}


def file_of(folder: Path, *documents: Any) -> Path:
    path = folder / "q.jsonl"
    path.write_text("\n".join(d if isinstance(d, str) else json.dumps(d) for d in documents), encoding="utf-8")
    return path


def test_questions_are_read_in_order(tmp_path: Path) -> None:
    full = GOOD | {"id": "b", "tolerance": 0.5, "accept": ["five"], "calls": 3, "program": "x"}
    first, second = load_questions(file_of(tmp_path, GOOD, "", full))
    assert first == Question(id="a", question="How many?", answer=5, type="number")
    assert (second.tolerance, second.accept, second.calls, second.extra) == (0.5, ("five",), 3, {"program": "x"})


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: not JSON"),
        ("[1]", "line 2: must be a JSON object, got '[1]'"),
        ({k: v for k, v in GOOD.items() if k != "type"}, "line 2: the field 'type' is missing"),
        (GOOD, "line 2: the id 'a' stands twice"),
        (GOOD | {"id": "b", "type": "float"}, "line 2: 'type' must be one of number, text, set, list, got 'float'"),
        (GOOD | {"id": "b", "answer": "5"}, "line 2: the 'answer' of type 'number' must be a number, got '5'"),
        (GOOD | {"id": "b", "answer": True}, "must be a number, got True"),
        (GOOD | {"id": "b", "type": "text", "answer": "--"}, "must be a text, got '--'"),
        (GOOD | {"id": "b", "type": "set"}, "must be a list of texts and numbers, got 5"),
        (GOOD | {"id": "b", "type": "list", "answer": [{}]}, "must be a list of texts and numbers"),
        (GOOD | {"id": "b", "calls": 0}, "line 2: 'calls' must be a whole number of at least 1, got 0"),
        (GOOD | {"id": "b", "tolerence": 1}, "unknown field 'tolerence'; did you mean 'tolerance'?"),
        (GOOD | {"id": "b", "tolerance": -1}, "'tolerance' must be a number of at least 0"),
        (GOOD | {"id": "b", "accept": "five"}, "'accept' must be a list of texts"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: Any, said: str) -> None:
    path = file_of(tmp_path, GOOD, line)
    with pytest.raises(InvalidTask) as caught:
        load_questions(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_holds_no_questions(tmp_path: Path) -> None:
    with pytest.raises(InvalidTask, match="No such file"):
        load_questions(tmp_path / "none.jsonl")
    with pytest.raises(InvalidTask, match="has no question"):
        load_questions(file_of(tmp_path, "", ""))
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidTask, match="not UTF-8"):
        load_questions(tmp_path / "binary")


def test_the_suite_of_flights_says_where_its_questions_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidTask, match=r"'examples/flights.jsonl', which is not in .*give --data FILE"):
        SUITES["flights"].load(None)
    assert load(file_of(tmp_path, GOOD))[0].id == "a"


def test_suites_are_found_by_name() -> None:
    assert find_suite("flights").tools == ()
    with pytest.raises(UnknownSuite, match="did you mean 'flights'"):
        find_suite("flight")
    with pytest.raises(UnknownSuite, match="there is flights"):
        find_suite("zzz")
