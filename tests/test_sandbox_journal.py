"""Which call of a later execution an earlier one answers."""

from __future__ import annotations

import pytest

from sandbox.journal import Journal, canonical
from sandbox.trace import Pins, ToolCall


def execute(journal, *steps, fails=()):
    """One execution of calls `(tool, arguments, writes)`: for each, whether the journal answered it."""
    journal.open()
    reused = []
    for index, (tool, arguments, writes) in enumerate(steps):
        call = ToolCall(index=index, tool=tool, arguments=arguments, line=index + 1, started=float(index))
        found = journal.before(call, writes=writes, defaults={"limit": 10})
        if found is None:
            failed = index in fails
            result, outcome, error = (None, "refused", "no") if failed else (f"{tool} {index}", "done", None)
            found = ToolCall(
                index=index, tool=tool, arguments=arguments, line=index + 1, result=result, outcome=outcome, error=error
            )
        journal.after(found)
        reused.append(found.reused)
    return reused


def read(name, **arguments):
    return name, arguments, False


def write(name, **arguments):
    return name, arguments, True


def test_nothing_is_reused_within_one_execution():
    assert execute(Journal(), read("a", x=1), read("a", x=1)) == [False, False]


def test_the_kth_call_is_answered_by_the_kth():
    journal = Journal()
    execute(journal, read("a", x=1), read("a", x=1))
    assert execute(journal, read("a", x=1), read("a", x=1), read("a", x=1)) == [True, True, False]
    assert execute(journal, read("a", x=1), read("a", x=1), read("a", x=1)) == [True, True, True]


def test_the_answer_stands_where_the_new_program_asks():
    journal = Journal()
    execute(journal, read("b"), read("a", x=1))
    journal.open()
    asked = ToolCall(index=0, tool="a", arguments={"x": 1}, line=9, started=0.5)
    found = journal.before(asked, writes=False, defaults={})
    assert found is None  # limit is not a default of this call, so it is another call
    found = journal.before(asked, writes=False, defaults={"limit": 10})
    assert (found.index, found.line, found.started, found.seconds, found.reused) == (0, 9, 0.5, 0.0, True)
    assert found.result == "a 1"


def test_a_default_given_is_a_default_left_out():
    journal = Journal()
    execute(journal, read("a", x=1))
    assert execute(journal, read("a", limit=10, x=1)) == [True]
    assert execute(journal, read("a", limit=11, x=1)) == [False]


def test_a_read_is_reused_only_after_the_same_writes():
    journal = Journal()
    execute(journal, read("a"), write("w"), read("a"))
    assert execute(journal, write("w"), read("a"), read("a")) == [True, False, True]


def test_a_write_is_reused_whatever_came_before_it():
    journal = Journal()
    execute(journal, write("w", x=1))
    assert execute(journal, read("a"), write("v"), write("w", x=1)) == [False, False, True]


def test_failed_calls_are_made_again():
    journal = Journal()
    execute(journal, read("a"), fails=(0,))
    assert execute(journal, read("a")) == [False]
    assert execute(journal, read("a")) == [True]


def test_the_sink_hears_intents_and_outcomes_with_their_execution():
    heard = []
    journal = Journal(
        sink=lambda execution, call, complete: heard.append((execution, call.outcome, call.reused, complete))
    )
    execute(journal, write("w"))
    execute(journal, write("w"))
    assert heard == [(0, "unknown", False, False), (0, "done", False, True), (1, "done", True, True)]


def test_every_execution_is_pinned_alike():
    pins = Pins(seed=3, clock=5.0, timezone="Europe/Madrid")
    journal = Journal(pins=pins)
    assert journal.open() is journal.open() is pins


@pytest.mark.parametrize(
    ("one", "other"), [({"x": 1}, {"x": True}), ({"x": 1}, {"x": 1.0}), ({"x": 1}, {"x": "1"}), ({"x": None}, {})]
)
def test_what_differs_is_another_call(one, other):
    assert canonical("a", one) != canonical("a", other)


def test_order_does_not_make_another_call():
    assert canonical("a", {"x": {"p": 1, "q": 2}, "y": 2}) == canonical("a", {"y": 2, "x": {"q": 2, "p": 1}})
