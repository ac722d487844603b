from __future__ import annotations

from typing import Any

import pytest

from toolflow_bench.paths import (
    correct_path,
    issued_tools,
    orphaned_writes,
    path_rate,
    precision,
    repeated_writes,
    sent_calls,
)


def call(
    tool: str, attempt: int = 0, outcome: str = "done", *, reused: bool = False, **arguments: Any
) -> dict[str, Any]:
    return {
        "tool": tool,
        "attempt": attempt,
        "outcome": outcome,
        "reused": reused,
        "arguments": arguments,
    }


def calls(text: str) -> list[dict[str, Any]]:
    return [call(letter) for letter in text]


@pytest.mark.parametrize(
    ("gold", "made", "path", "share", "cp"),
    [
        ("abc", "axbxc", 1, 3 / 5, True),
        ("abc", "acb", 1, 1, False),
        ("abc", "ab", 2 / 3, 1, False),
        ("abbbc", "abc", 1, 1, True),  # a loop of other length
        ("abab", "aabb", 1, 1, False),  # a loop over two tools is no two loops
        ("aba", "ab", 1, 1, False),
        ("ab", "", 0, 0, False),
        ("ab", "xyz", 0, 0, False),
    ],
)
def test_rates(gold: str, made: str, path: float, share: float, cp: bool) -> None:
    run = calls(made)
    assert (path_rate(gold, run), precision(gold, run), correct_path(gold, run)) == (
        path,
        share,
        cp,
    )


def test_without_a_gold_path_there_is_no_rate() -> None:
    for rate in (path_rate, precision, correct_path):
        assert rate((), calls("ab")) is None


def test_unsent_and_journalled_calls_are_told_apart() -> None:
    made = [
        call("a"),
        call("b", outcome="not_run"),
        call("a", 1, reused=True),
        call("b", 1, outcome="refused"),
        call("c", 1),
    ]
    assert [one["tool"] for one in sent_calls(made)] == ["a", "b", "c"]
    assert issued_tools(made) == ["a", "a", "b", "c"]
    assert path_rate("ab", made[:2]) == 0.5
    # the second program asked for a, b, c in this order, whoever answered it
    assert correct_path(
        "abc",
        [call("b"), call("a"), call("a", 1, reused=True), call("b", 1, reused=True), call("c", 1)],
    )
    assert precision("ac", made) == 2 / 3


WRITING = frozenset({"book", "pay"})


def test_repeated_writes() -> None:
    once = call("book", seats=1)
    assert (
        repeated_writes(
            [once, call("book", seats=2), call("find", a=1), call("find", a=1)], WRITING
        )
        == 0
    )
    assert repeated_writes([once, once, once], WRITING) == 2
    assert repeated_writes([call("book", outcome="refused", seats=1), once], WRITING) == 0
    assert repeated_writes([call("book", outcome="unknown", seats=1), once], WRITING) == 1
    assert repeated_writes([once, call("book", 1, reused=True, seats=1)], WRITING) == 0
    assert repeated_writes([once, call("book", seats=True)], WRITING) == 0  # `true` is not 1


def test_orphaned_writes() -> None:
    first = [call("book", seats=1), call("pay", amount=5), call("find", a=1)]
    assert orphaned_writes(first, WRITING, last=0) == 0
    again = [call("book", 1, reused=True, seats=1), call("pay", 1, amount=6)]
    assert orphaned_writes([*first, *again], WRITING, last=1) == 1
    assert (
        orphaned_writes(first, WRITING, last=1) == 2
    )  # a last program that never ran issued nothing
    refused = call("book", outcome="refused", seats=3)
    assert (
        orphaned_writes([refused, call("book", outcome="unknown", seats=4)], WRITING, last=1) == 1
    )
    twice = [call("book", seats=1), call("book", seats=1), call("book", 1, reused=True, seats=1)]
    assert orphaned_writes(twice, WRITING, last=1) == 1
