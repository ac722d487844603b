"""When a run has spent its time, tokens or requests."""

from __future__ import annotations

import threading

import pytest

from atc.core.config import Config
from atc.core.events import ModelAsked
from atc.core.parallel import ModelRequest, run_parallel, seconds_to_wait
from atc.run.model_budget import BudgetedModel, BudgetSpent
from protocols.errors import ModelUnavailable, OutOfTime
from protocols.model import Completion, Message, Powers
from tests.labs.patience import PATIENCE


class Echo:
    """A model that says what it was asked, after `together` requests have come; some texts it has no reply to."""

    name, prompt_tokens, powers = "echo", 4000, Powers(parallel=True)

    def __init__(self, *down: str, together: int = 1) -> None:
        self.asked: list[str] = []
        self._down, self._met = down, threading.Barrier(together)

    def __call__(self, messages, **_settings):
        self._met.wait(timeout=PATIENCE)
        text = messages[0].content
        self.asked.append(text)
        if text in self._down:
            raise ModelUnavailable("away")
        return Completion(text=text.upper(), model="echo", input_tokens=10, output_tokens=1)


def each(model: Echo, texts: str, **budget) -> tuple[list[str], list[str]]:
    """The replies to single letters asked side by side, and what was told of them, in order."""
    told: list[str] = []

    def watch(event) -> None:
        told.append(
            event.messages[0].content if isinstance(event, ModelAsked) else event.completion.text
        )

    meter = BudgetedModel(model, watch, Config(**budget))
    requests = [ModelRequest(messages=[Message("user", text)]) for text in texts]
    try:
        replies = meter.each(requests, 16, purpose="retrieve")
    except BudgetSpent as spent:
        return [spent.limit], told
    assert meter.usage.model_calls == len(texts) - sum(
        isinstance(reply, ModelUnavailable) for reply in replies
    )
    return [
        str(reply) if isinstance(reply, ModelUnavailable) else reply.text for reply in replies
    ], told


def test_parallel_requests_are_reported_in_order() -> None:
    assert each(Echo(together=3), "abc") == (["A", "B", "C"], ["a", "A", "b", "B", "c", "C"])


def test_one_that_fails_takes_no_other_along() -> None:
    assert each(Echo("b"), "abc") == (["A", "away", "C"], ["a", "A", "b", "c", "C"])


class Slow:
    """A model that needs longer for a reply than there ever is, but for the text `now`."""

    name, prompt_tokens, powers = "slow", 4000, Powers(parallel=True)

    def __init__(self) -> None:
        self.patience: list[float] = []

    def __call__(self, messages, **_settings):
        self.patience.append(seconds_to_wait(1000.0))
        if messages[0].content == "now":
            return Completion(text="done", model="slow", input_tokens=10, output_tokens=1)
        raise OutOfTime("too late")


def test_a_late_reply_ends_the_run() -> None:
    model = Slow()
    meter = BudgetedModel(model, lambda event: None, Config(max_seconds=60))
    assert (
        meter.complete([Message("user", "now")], purpose="program", temperature=0, seed=0).text
        == "done"
    )
    with pytest.raises(BudgetSpent, match="max_seconds = 60"):
        meter.complete([Message("user", "later")], purpose="program", temperature=0, seed=0)
    assert all(0 < seconds <= 60 for seconds in model.patience)
    assert meter.usage.model_calls == 1
    assert seconds_to_wait(1000.0) == 1000.0, "nobody else is hurried"


def test_the_request_limit_bounds_parallel_requests() -> None:
    model = Echo()
    assert each(model, "abcd", max_model_calls=2) == (["max_model_calls = 2"], ["a", "A", "b", "B"])
    assert sorted(model.asked) == ["a", "b"]


def test_token_limits_make_requests_wait_in_turn() -> None:
    """Each takes eleven."""
    model = Echo()
    assert each(model, "abcdef", max_tokens=22) == (["max_tokens = 22"], ["a", "A", "b", "B"])
    assert sorted(model.asked) == ["a", "b"]


def test_calls_under_way_are_limited() -> None:
    running: list[int] = []
    most, lock, together = 0, threading.Lock(), threading.Barrier(3)

    def call(number: int) -> int:
        nonlocal most
        with lock:
            running.append(number)
            most = max(most, len(running))
        if number < 3:
            together.wait(timeout=PATIENCE)  # three are at work at once
        with lock:
            running.remove(number)
        return number

    assert sorted(run_parallel(call, range(20), most=3)) == list(range(20))
    assert most == 3
