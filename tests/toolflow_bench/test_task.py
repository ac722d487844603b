from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolflow_bench.suites import load_flights
from toolflow_bench.task import CANDIDATES, GradedQuestion, InvalidTask, load_questions, load_tasks

GOOD: dict[str, Any] = {"id": "a", "question": "How many?", "answer": 5, "type": "number"}


def file_of(folder: Path, *documents: Any) -> Path:
    path = folder / "q.jsonl"
    path.write_text(
        "\n".join(d if isinstance(d, str) else json.dumps(d) for d in documents), encoding="utf-8"
    )
    return path


def test_questions_are_read_in_order(tmp_path: Path) -> None:
    full = GOOD | {"id": "b", "tolerance": 0.5, "accept": ["five"], "calls": 3}
    first, second = load_questions(file_of(tmp_path, GOOD, "", full))
    assert first == GradedQuestion(id="a", question="How many?", answer=5, type="number")
    assert (second.tolerance, second.accept, second.calls) == (0.5, ("five",), 3)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: Invalid JSON: EOF while parsing"),
        (
            {k: v for k, v in GOOD.items() if k != "type"} | {"id": "b"},
            "line 2: 'type' is missing.",
        ),
        (GOOD, "line 2: the id 'a' stands twice"),
        (
            GOOD | {"id": "b", "type": "float"},
            "line 2: 'type' must be 'number', 'text', 'set', 'list', 'none' or 'state', got 'float'",
        ),
        (
            GOOD | {"id": "b", "answer": "5"},
            "line 2: the 'answer' of type 'number' must be a number, got '5'",
        ),
        (
            GOOD | {"id": "b", "calls": 0},
            "line 2: 'calls' must be greater than or equal to 1, got 0",
        ),
        (GOOD | {"id": "b", "tolerence": 1}, "line 2: 'tolerence' is no field of a question."),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: Any, said: str) -> None:
    path = file_of(tmp_path, GOOD, line)
    with pytest.raises(InvalidTask) as caught:
        load_questions(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_flights_suite_names_its_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InvalidTask, match=r"'examples/flights.jsonl', which is not in .*give --data FILE"
    ):
        load_flights(None)
    assert load_flights(file_of(tmp_path, GOOD))[0].id == "a"


TASK: dict[str, Any] = GOOD | {
    "split": "long",
    "services": ["flights"],
    "candidates": [f"tool_{number}" for number in range(CANDIDATES)],
    "program": "print(tool_1())",
    "query": "SELECT 5",
    "operations": ["tool_1"] * 7,
    "calls": 7,
    "pattern": "abc",
    "depth": 3,
}


def test_tasks_come_from_every_file(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text(
        json.dumps(TASK | {"id": "b", "split": "short", "operations": ["tool_1"], "calls": 1})
    )
    (tmp_path / "a.jsonl").write_text(json.dumps(TASK | {"services": ["flights", "movies"]}))
    assert [task.id for task in load_tasks(tmp_path)] == ["a", "b"]
    assert [task.id for task in load_tasks(tmp_path, split="short")] == ["b"]
    assert [task.id for task in load_tasks(tmp_path, services=("flights",))] == ["b"]
    assert load_tasks(tmp_path, services=("movies", "flights"))[0].candidates == tuple(
        TASK["candidates"]
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"split": "medium"}, "'split' must be 'long' or 'short', got 'medium'"),
        ({"candidates": ["a"] * 20}, "'candidates' must be a list of 20 different names of tools"),
        (
            {"operations": ["get_moon"], "calls": 1},
            "the gold program calls 'get_moon', which is not among 'candidates'",
        ),
        ({"calls": 8}, "'operations' has 7 calls, 'calls' says 8"),
    ],
)
def test_a_bad_task_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    (tmp_path / "tasks.jsonl").write_text(json.dumps(TASK | change))
    with pytest.raises(InvalidTask) as caught:
        load_tasks(tmp_path)
    assert said in str(caught.value)
    assert "tasks.jsonl, line 1: " in str(caught.value)
