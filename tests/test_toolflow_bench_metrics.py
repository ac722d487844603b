from __future__ import annotations

from toolflow_bench.metrics import Row, Share, bootstrap, summarize


def row(number: int, **more: object) -> Row:
    return Row(id=str(number), question="?", expected=1, needs=number, **more)  # type: ignore[arg-type]


ROWS = [
    row(1, correct=True, status="solved", calls=1, seconds=2.0, model_seconds=1.0, input_tokens=10, output_tokens=1),
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
        "1": Share(solved=1, graded=1),
        "2-3": Share(solved=1, graded=2),
        "4+": Share(solved=0, graded=1),
    }
    assert (summary.calls, summary.repairs, summary.model_calls) == (10, 4, 2)
    assert (summary.input_tokens, summary.output_tokens) == (10, 1)
    assert (summary.seconds_median, summary.seconds_max, summary.seconds_total) == (5.0, 9.0, 21.0)
    assert summary.model_seconds_total == 1.0


def test_nothing_graded_has_no_share() -> None:
    summary = summarize(ROWS[4:])
    assert (summary.share, summary.interval, summary.seconds_median, summary.seconds_max) == (None, None, None, None)
    assert summary.as_json()["outages"] == 1


def test_the_interval_repeats_and_narrows() -> None:
    few, many = [True, False] * 6, [True, False] * 200
    assert bootstrap(few, seed=1) == bootstrap(few, seed=1)
    low, high = bootstrap(few) or (0, 0)
    assert 0.1 < low < 0.5 < high < 0.9
    narrow_low, narrow_high = bootstrap(many) or (0, 0)
    assert low < narrow_low < 0.5 < narrow_high < high
    assert bootstrap([True] * 5) == (1.0, 1.0)
    assert bootstrap([]) is None
