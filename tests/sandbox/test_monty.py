"""The portable backend: what it runs, how it ends a program, and what it says of a program that needs more."""

from __future__ import annotations

import threading

import pytest

from benchmarks.sandbox.dialects import dialect_tools, is_right, load_dialects
from benchmarks.sandbox.shop import run
from sandbox.base import SandboxUnavailable
from sandbox.choose import open_sandbox
from sandbox.monty import MontySandbox, unavailable
from tests.labs import sandbox_checks
from tests.labs.patience import PATIENCE

pytestmark = pytest.mark.skipif(unavailable() is not None, reason="needs pydantic-monty")

BEYOND = {
    "a_run_can_be_repeated",  # uuid
    "runs_leave_nothing_to_each_other",  # __builtins__
    "a_failed_call_can_be_caught",  # by the name ToolError
    "wrong_arguments_never_reach_the_tool",  # caught by the name ToolError
    "memory_is_limited",  # bytearray
}
CONCURRENT = {  # asyncio.to_thread
    "gathered_calls_are_made_at_once",
    "no_more_than_the_limit_at_once",
    "replies_come_in_the_order_of_the_calls",
    "a_call_may_be_waited_for_while_others_are_under_way",
    "calls_under_way_at_the_end_are_recorded",
}
CHECKS = [check for check in sandbox_checks.CHECKS if check.__name__ not in BEYOND | CONCURRENT]


@pytest.fixture(scope="module")
def sandbox():
    with MontySandbox() as monty:
        yield monty


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conforms(sandbox, check):
    check(sandbox)


@pytest.mark.parametrize(
    ("source", "kind", "type_"),
    [
        ("[0] * 10**9", "limit", "memory_bytes"),
        ("open('/etc/passwd').read()", "exception", "PermissionError"),
    ],
)
def test_ends_a_program(sandbox, source, kind, type_):
    failure = run(sandbox, source).failure
    assert (failure.kind, failure.type) == (kind, type_), failure


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("x = []\nfor _ in range(60): x = [x, x]\nx", "<list, which cannot be shown>"),
        (
            "x = [0] * 300_000\nfor _ in range(3): x = [x] * 300_000\nx",
            "<list, which cannot be shown>",
        ),
        ("x = []\nx.append(x)\nx", ["[...]"]),
        ("[(1, 2), {3}, 'é', None, 1.5, {1: 2}]", [[1, 2], [3], "é", None, 1.5, {"1": 2}]),
    ],
)
def test_value_reaches_the_host_in_bounds(sandbox, source, value):
    trace = run(sandbox, source)
    assert trace.failure is None
    assert trace.value == value


def test_endless_arguments_are_no_call(sandbox):
    trace = run(sandbox, "x = 'a'\nfor _ in range(40): x = [x, x]\necho(text=x)")
    assert trace.failure.type == "ValueError"
    assert trace.calls == ()


def test_caught_failure_and_lines(sandbox):
    trace = run(
        sandbox, "é = 'é'\ntry:\n    get_item(id=-1)\nexcept Exception as error:\n    print(error)"
    )
    assert trace.failure is None
    assert trace.stdout == "HTTP 404: no item -1\n"
    assert [call.line for call in trace.calls] == [3]


def test_says_what_it_lacks(sandbox):
    failure = run(sandbox, "echo(text='a')\nimport subprocess").failure
    assert failure.type == "ModuleNotFoundError"
    assert "use the zygote or docker sandbox" in failure.message


def test_closed_sandbox_runs_nothing():
    sandbox = open_sandbox("monty")
    run(sandbox, "1")
    sandbox.close()
    with pytest.raises(SandboxUnavailable, match="closed"):
        run(sandbox, "1")


@pytest.mark.parametrize("dialect", load_dialects(), ids=lambda dialect: dialect.name)
def test_a_dialect_is_right_unless_monty_lacks_it(sandbox, dialect):
    patience = 1 if dialect.monty_lacks else PATIENCE
    meeting = threading.Barrier(dialect.at_once, timeout=patience)
    trace = run(sandbox, dialect.source, dialect_tools(meeting.wait))
    assert is_right(dialect, trace) == (not dialect.monty_lacks), trace
