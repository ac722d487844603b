"""The waterfall of a run's time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from atc.serve.view.timeline import make_timeline
from atc.store.stored import Exchange, RunSummary, StoredRun
from protocols.model import Completion
from sandbox.journal_entries import RecordedCall
from sandbox.trace import ToolCall


def asked(at: float, seconds: float, purpose: str = "write") -> Exchange:
    return Exchange(
        purpose=purpose,
        messages=(),
        reply=Completion(text="x", model="m", seconds=seconds),
        asked=at,
    )


def called(at: float, seconds: float, execution: int = 0, *, reused: bool = False) -> RecordedCall:
    call = ToolCall(index=0, tool="find", arguments={}, line=1, seconds=seconds, reused=reused)
    return RecordedCall(execution=execution, call=call, intended=at)


def run(*exchanges: Exchange, calls: tuple[RecordedCall, ...] = ()) -> StoredRun:
    summary = RunSummary(task="t", created=1000.0)
    return StoredRun(summary=summary, attempts=(), calls=calls, exchanges=exchanges)


def test_model_and_calls_are_rows_in_order() -> None:
    calls = (
        called(1006.0, 1.0),
        called(1006.5, 1.5),
        called(1012.0, 2.0, 1),
        called(1013.0, 0.0, 1, reused=True),
    )
    found = make_timeline(run(asked(1000.0, 6.0), asked(1008.0, 4.0, "repair"), calls=calls))
    assert found is not None
    assert [(row.kind, row.name, row.after, row.seconds) for row in found.rows] == [
        ("model", "write", 0.0, 6.0),
        ("calls", "2 calls", 6.0, 2.0),
        ("model", "repair", 8.0, 4.0),
        ("calls", "1 call", 12.0, 2.0),
    ]
    assert (found.model_seconds, found.call_seconds, found.shortened) == (10.0, 4.0, False)
    assert [bar for row in found.rows for bar in row.bars] == [
        pytest.approx(bar)
        for bar in (
            (0, 600 / 14),
            (600 / 14, 200 / 14),
            (800 / 14, 400 / 14),
            (1200 / 14, 200 / 14),
        )
    ]


def test_a_long_wait_is_drawn_short() -> None:
    found = make_timeline(run(asked(1000.0, 5.0), asked(90_000.0, 5.0)))
    assert found is not None
    assert found.shortened
    assert found.rows[1].bars[0] == pytest.approx((100 * 5.3 / 10.3, 100 * 5 / 10.3))


def test_many_calls_become_few_bars() -> None:
    calls = tuple(called(1000.0 + n, 0.5) for n in range(1000))
    found = make_timeline(run(calls=calls))
    assert found is not None
    assert len(found.rows[0].bars) <= 200
    assert all(0 <= bar.at <= bar.at + bar.width <= 100.001 for bar in found.rows[0].bars)


def test_without_times_there_is_no_waterfall() -> None:
    assert make_timeline(run(asked(1000.0, 5.0), replace(asked(0, 1.0), asked=None))) is None
    assert make_timeline(run()) is None
