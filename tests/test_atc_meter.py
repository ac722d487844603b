"""When a run's time is up: before a reply that would not come in time."""

from __future__ import annotations

import pytest

from atc import meter as metering
from atc.meter import BudgetSpent, Meter
from protocols.ask import Completion


class Clock:
    """A model whose replies take the given seconds, and the clock that sees them pass."""

    name, prompt_tokens = "slow", 4000

    def __init__(self, *seconds: float) -> None:
        self.now, self._seconds = 1000.0, iter(seconds)

    def monotonic(self) -> float:
        return self.now

    def __call__(self, messages, **_settings):
        self.now += next(self._seconds)
        return Completion(text="x", model="slow", input_tokens=10, output_tokens=1, seconds=0.0)


def replies(clock: Clock, monkeypatch: pytest.MonkeyPatch, **budget) -> int:
    """How many replies are asked for before the budget is said to be spent."""
    monkeypatch.setattr(metering, "time", clock)
    meter = Meter(clock, lambda event: None, **budget)
    with pytest.raises(BudgetSpent) as spent:
        list(iter(lambda: meter.complete([], purpose="program", temperature=0, seed=0), None))
    ((key, value),) = budget.items()
    assert spent.value.limit == f"{key} = {value:g}"
    return meter.usage.model_calls


def test_a_long_first_reply_is_no_measure_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    # 110 seconds to read the tools; replies after it take 9, and 180 - 110 leave time for seven of them.
    assert replies(Clock(110, 9, 9, 9, 9, 9, 9, 9, 9), monkeypatch, max_seconds=180) == 8


def test_a_later_reply_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert replies(Clock(10, 40, 5, 5), monkeypatch, max_seconds=80) == 2


def test_nothing_is_begun_that_could_hardly_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert replies(Clock(170, 1), monkeypatch, max_seconds=180) == 1
    assert replies(Clock(200), monkeypatch, max_seconds=180) == 1


def test_tokens_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert replies(Clock(1, 1, 1), monkeypatch, max_tokens=12) == 2
