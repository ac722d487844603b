from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from toolflow_bench.compare import compare
from toolflow_bench.metrics import Row, Share, failure_class, mean_of_tasks, summarize
from toolflow_bench.resampling import estimate, recipe_of


def row(number: int, **more: object) -> Row:
    return Row(id=str(number), question="?", expected=1, needs=number, **more)  # type: ignore[arg-type]


ROWS = [
    row(
        1,
        correct=True,
        status="solved",
        calls=1,
        seconds=2.0,
        model_seconds=1.0,
        input_tokens=10,
        output_tokens=1,
    ),
    row(2, correct=True, status="solved", calls=2, seconds=4.0, repairs=1, model_calls=2),
    row(3, status="failed", calls=3, seconds=9.0, repairs=3),
    row(4, status="solved", calls=4, seconds=6.0),
    row(5, status="outage", seconds=1000.0, calls=50, error="down"),
    row(6, status="crash", seconds=1000.0, calls=50, error="bug"),
]


def test_outages_and_crashes_stand_apart() -> None:
    summary = summarize(ROWS)
    assert (summary.questions, summary.graded, summary.solved, summary.share) == (6, 4, 2, 0.5)
    assert (summary.outages, summary.crashes) == (1, 1)
    assert summary.by_calls == {
        "1-2": Share(solved=2, graded=2),
        "3-4": Share(solved=0, graded=2),
        "5-6": Share(solved=0, graded=0),
        "7+": Share(solved=0, graded=0),
    }
    assert (summary.calls, summary.repairs, summary.model_calls) == (10, 4, 2)
    assert (summary.input_tokens, summary.output_tokens) == (10, 1)
    assert summary.seconds_total == 21.0
    assert (summary.model_seconds_total, summary.own_seconds_total) == (1.0, 20.0)


def test_the_interval_repeats_and_narrows() -> None:
    few, many = [True, False] * 6, [True, False] * 200
    assert estimate(few, seed=1) == estimate(few, seed=1)
    wide, narrow, sure = estimate(few), estimate(many), estimate([True] * 5)
    assert wide is not None
    assert narrow is not None
    assert sure is not None
    assert 0.1 < wide.low < narrow.low < 0.5 < narrow.high < wide.high < 0.9
    assert (sure.low, sure.high) == (1.0, 1.0)
    assert estimate([]) is None


TASK = {"split": "long", "gold": ("a", "b"), "tools": ("a", "b"), "cost": 0.5}


def test_figures_of_tasks_with_a_gold_path() -> None:
    rows = [
        row(
            1,
            status="solved",
            correct=True,
            services=("flights",),
            path=1.0,
            precision=0.5,
            cp=True,
            **TASK,
        ),
        row(
            7,
            failure="tool",
            services=("movies", "flights"),
            path=0.5,
            precision=0.0,
            cp=False,
            **TASK,
        ),
        row(
            8,
            failure="tool",
            services=("flights",),
            path=0.0,
            precision=1.0,
            cp=False,
            repeated_writes=2,
            **TASK,
        ),
    ]
    summary = summarize(rows)
    assert summary.by_service == {
        "flights": Share(solved=1, graded=2),
        "flights+movies": Share(solved=0, graded=1),
    }
    assert summary.by_split == {"long": Share(solved=1, graded=3)}
    assert summary.by_calls["1-2"] == Share(solved=1, graded=1)
    assert summary.by_calls["7+"] == Share(solved=0, graded=2)
    assert summary.path is not None
    assert summary.cp is not None
    assert (summary.path.mean, summary.path.n) == (0.5, 3)
    assert (summary.path.low, summary.path.high) == (0.0, 1.0)
    assert summary.cp.mean == pytest.approx(1 / 3)
    assert summary.failures == {"tool": 2}
    assert (summary.repeated_writes, summary.cost, summary.unpriced) == (2, 1.5, 0)
    dear = summarize([*rows, row(9, cost=None)])
    assert (dear.cost, dear.unpriced) == (None, 1)


def test_repeats_are_averaged_before_tasks_are() -> None:
    rows = [
        *(row(1, repeat=repeat, correct=repeat < 3, status="solved") for repeat in range(4)),
        row(2, repeat=0, correct=False),
        row(2, repeat=1, status="outage"),
    ]
    summary = summarize(rows)
    assert (summary.questions, summary.graded, summary.solved, summary.repeats) == (2, 5, 3, 4)
    assert summary.share == 0.375  # the mean of 3/4 and 0/1, not 3/5
    found = mean_of_tasks(rows, lambda row: row.correct)
    assert found is not None
    assert (found.mean, found.n) == (0.375, 2)
    # 3 of 4 right: of 2 drawn both are with chance 1/2, of 4 never. The other task has one graded repeat only.
    assert {k: one.mean for k, one in summary.pass_k.items()} == {1: 0.375, 2: 0.5, 3: 0.25, 4: 0.0}


def test_intervals_draw_recipes_not_tasks() -> None:
    assert [recipe_of(task) for task in ("across/debut-weather-2", "q-17")] == [
        "across/debut-weather",
        "q-17",
    ]
    values = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] * 4
    alone, together = (
        estimate(values),
        estimate(values, groups=[number // 3 for number in range(24)]),
    )
    assert alone is not None
    assert together is not None
    assert together.high - together.low > 1.3 * (alone.high - alone.low)


def test_difficulty_is_depth_times_distinct_tools() -> None:
    rows = [
        row(n, correct=n > 1, depth=depth, gold=("a", "b", "a"))
        for n, depth in enumerate((2, 4, 5, 20), start=1)
    ]
    shares = {
        name: (share.solved, share.graded) for name, share in summarize(rows).by_difficulty.items()
    }
    assert shares == {"easy": (1, 2), "medium": (1, 1), "very hard": (1, 1)}


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        ({"correct": True, "status": "solved", "answer": "x"}, ""),
        ({"status": "outage"}, ""),
        ({"status": "solved", "answer": "x"}, "wrong_answer"),
        ({"status": "solved", "answer": "x", "tools": ("a",)}, "retrieval"),
        ({"limit": "max_seconds = 60"}, "limit"),
        ({"status": "solved", "answer": "x", "limit": "max_tokens = 9"}, "wrong_answer"),
        ({"faults": ({"kind": "tool_failed"}, {"kind": "misread_result"})}, "misread"),
        ({"faults": ({"kind": "misread_result"}, {"kind": "tool_failed"})}, "tool"),
        ({"faults": ({"kind": "bad_arguments"},)}, "program"),
        ({}, "no_answer"),
    ],
)
def test_classes_of_failure(facts: dict, wanted: str) -> None:
    assert failure_class(row(1, **{**TASK, **facts})) == wanted


def test_runs_are_compared_on_the_tasks_they_share() -> None:
    first = [
        row(n, status="solved", correct=n % 2 == 0, path=0.5, input_tokens=100)
        for n in range(1, 21)
    ]
    second = [
        row(n, status="solved", correct=n % 2 == 0 or n < 10, path=1.0, input_tokens=90)
        for n in range(1, 19)
    ]
    changed = Row(id="19", question="another", expected=1, needs=1, correct=True)
    found = compare(first, [*second, changed, row(20, status="outage")])
    assert (found.shared, found.both, found.only_a, found.only_b, found.neither) == (18, 9, 0, 5, 4)
    assert found.p == 0.0625
    success = found.differences["success"]
    assert success.mean == pytest.approx(5 / 18)
    assert 0 < success.low < success.mean < success.high
    assert (found.differences["path"].mean, found.differences["path"].low) == (0.5, 0.5)
    assert found.differences["tokens"].mean == -10
    assert "cp" not in found.differences
    back = compare(second, first)
    assert (back.only_a, back.only_b, back.p) == (5, 0, 0.0625)
    assert back.differences["success"].mean == -success.mean
    assert json.loads(json.dumps(asdict(found)))["shared"] == 18
