"""Which call of a later execution an earlier one answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.journal import Journal, canonical_call
from sandbox.journal_entries import RecordedCall
from sandbox.trace import ToolCall
from tests.labs import tools as tool_lab

LIMIT = {"limit": {"type": "integer", "default": 10}}
TOOLS = {
    name: tool_lab.tool(name, parameters=LIMIT if name < "w" else None, reads=name in "ac")
    for name in "abcw"
}


def execute(journal, *steps, fails=()):
    """One execution of calls `(tool, arguments, writes)`: for each, whether the journal answered it."""
    journal.open()
    reused = []
    for index, (tool, arguments, writes) in enumerate(steps):
        call = ToolCall(
            index=index, tool=tool, arguments=arguments, line=index + 1, started=float(index)
        )
        found = journal.find_answer(call, writes=writes, defaults={"limit": 10})
        if found is None:
            journal.record(replace(call, outcome="unknown"), complete=False)
            failed = index in fails
            result, outcome, error = (
                (None, "refused", "no") if failed else (f"{tool} {index}", "done", None)
            )
            found = replace(call, result=result, outcome=outcome, error=error)
        journal.record_outcome(found)
        reused.append(found.reused)
    return reused


def read(name, **arguments):
    return name, arguments, False


def write(name, **arguments):
    return name, arguments, True


def test_the_kth_call_is_answered_by_the_kth():
    journal = Journal()
    execute(journal, read("a", x=1), read("a", x=1))
    assert execute(journal, read("a", x=1), read("a", x=1), read("a", x=1)) == [True, True, False]
    assert execute(journal, read("a", x=1), read("a", x=1), read("a", x=1)) == [True, True, True]


def test_a_repeated_beginning_fails_as_before():
    """Also if an equal call has succeeded since; a program that begins otherwise gets that one."""
    journal, steps = Journal(), (read("a", x=1), read("c"), read("a", x=1))
    execute(journal, *steps, fails={0})
    failed = ToolCall(index=0, tool="a", arguments={"x": 1}, line=1, error="no", outcome="refused")
    done = replace(failed, index=1, tool="c", arguments={}, error=None, outcome="done")
    journal.preanswered = (failed, done, replace(done, index=2, tool="a", arguments={"x": 1}))
    assert execute(journal, *steps, read("a", x=1)) == [True, True, True, False]
    assert execute(journal, read("c"), read("b"), read("a", x=1)) == [True, False, True]
    journal.preanswered = ()
    assert execute(journal, read("a", x=1)) == [True]


def test_equal_numbers_repeat_no_write():
    journal = Journal()
    execute(journal, write("b", x=[5, "5.0"]), read("a", x=5))
    assert execute(journal, write("b", x=[5.0, "5.0"]), read("a", x=5.0)) == [True, False]
    assert execute(journal, write("b", x=[5, "5"])) == [False]


def test_remade_executions_continue_from_their_failure():
    """A program that took a refusal for "none" and then wrote must not write something else when it is resumed."""
    steps = (read("a", x=1), read("a", x=2), write("b"), read("c"))
    stored: list[RecordedCall] = []
    journal = Journal(
        sink=lambda _, call, done: stored.append(
            RecordedCall(execution=0, call=call, complete=done)
        )
    )
    execute(journal, *steps, fails=(1, 3))
    calls = [one for one in stored if one.complete]
    again = Journal()
    again.restore(calls, TOOLS)
    again.repeat(since=0, ended_by=None)
    assert execute(again, *steps) == [True, True, True, False]  # the last call may have ended it
    assert execute(again, *steps) == [True, False, True, True]  # by now it is another program
    fresh = Journal()
    fresh.restore(calls, TOOLS)
    assert execute(fresh, *steps) == [True, False, True, False]


def test_only_the_call_that_ended_is_made_again():
    journal, steps = Journal(), (read("a", x=1), read("a", x=1), write("w"), read("c"))
    execute(journal, *steps, fails=(0, 3))
    journal.repeat(since=0, ended_by=3)
    assert execute(journal, *steps, fails=(3,)) == [True, True, True, False]
    journal.repeat(since=0, ended_by=3)
    execute(journal, *steps[:1])  # interrupted
    journal.repeat(since=0, ended_by=None)
    assert execute(journal, *steps) == [True, True, True, False]


def test_failures_without_consequence_are_made_again():
    journal, steps = Journal(), (write("w", x=1), read("a"), read("c"))
    execute(journal, *steps, fails=(1, 2))
    journal.repeat(since=0, ended_by=None)
    assert execute(journal, *steps) == [True, False, False]


def test_a_lost_write_after_a_refusal_stays_lost():
    made = [ToolCall(index=k, tool="w", arguments={}, line=1, started=float(k)) for k in (0, 1)]
    refused = replace(made[0], outcome="refused", error="no")
    lost = replace(made[1], outcome="unknown", error="no answer")
    journal = Journal()
    journal.restore([RecordedCall(execution=0, call=one) for one in (refused, lost)], TOOLS)
    journal.repeat(since=0, ended_by=1)
    journal.open()
    assert journal.find_answer(made[0], writes=True, defaults={}).error == "no"
    journal.record_outcome(replace(refused, reused=True))
    assert journal.find_answer(made[1], writes=True, defaults={}) is None
    assert journal.earlier_write(1)[0].error == "no answer"


def test_the_answer_stands_where_the_new_program_asks():
    journal = Journal()
    execute(journal, read("b"), read("a", x=1))
    journal.open()
    asked = ToolCall(index=0, tool="a", arguments={"x": 1}, line=9, started=0.5)
    found = journal.find_answer(asked, writes=False, defaults={})
    assert found is None  # limit is not a default of this call, so it is another call
    found = journal.find_answer(asked, writes=False, defaults={"limit": 10})
    assert (found.index, found.line, found.started, found.seconds, found.reused) == (
        0,
        9,
        0.5,
        0.0,
        True,
    )
    assert found.result == "a 1"


def test_defaults_and_order_do_not_matter():
    journal = Journal()
    execute(journal, read("a", x={"p": 1, "q": 2}, y=1))
    assert execute(journal, read("a", y=1, x={"q": 2, "p": 1}, limit=10)) == [True]
    assert execute(journal, read("a", x={"p": 1, "q": 2}, y=1, limit=11)) == [False]


def test_reads_are_reused_after_the_same_writes():
    journal = Journal()
    execute(journal, read("a"), write("w"), read("a"))
    assert execute(journal, write("w"), read("a"), read("a")) == [True, False, True]


def test_a_write_is_reused_whatever_came_before_it():
    journal = Journal()
    execute(journal, write("w", x=1))
    assert execute(journal, read("a"), write("v"), write("w", x=1)) == [False, False, True]


def test_the_sink_hears_intents_and_outcomes():
    heard = []
    journal = Journal(
        sink=lambda execution, call, complete: heard.append(
            (execution, call.outcome, call.reused, complete)
        )
    )
    execute(journal, write("w"))
    execute(journal, write("w"))
    assert heard == [
        (0, "unknown", False, False),
        (0, "done", False, True),
        (1, "done", True, True),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [({"x": 1}, {"x": True}), ({"x": 1}, {"x": 1.0}), ({"x": 1}, {"x": "1"}), ({"x": None}, {})],
)
def test_what_differs_is_another_call(one, other):
    assert canonical_call("a", one) != canonical_call("a", other)


def made(index, tool, *, outcome="done", reused=False, result="r", **arguments):
    error = None if outcome == "done" else "lost"
    return ToolCall(
        index=index,
        tool=tool,
        arguments=arguments,
        line=1,
        result=result if error is None else None,
        error=error,
        outcome=outcome,
        reused=reused,
    )


def record(call, *, execution=0, complete=True):
    return RecordedCall(execution=execution, call=call, complete=complete, intended=5.0)


def restored(*calls):
    journal = Journal()
    journal.restore(calls, TOOLS)
    journal.open()
    return journal


def ask(journal, index, tool, *, writes=True, **arguments):
    call = ToolCall(index=index, tool=tool, arguments=arguments, line=1)
    return journal.find_answer(call, writes=writes, defaults={})


@pytest.mark.parametrize(
    "call", [(made(0, "w"), False), (made(0, "w", outcome="unknown"), True)], ids=["killed", "lost"]
)
def test_an_unfinished_write_covers_the_next_equal(call):
    journal = restored(record(call[0], complete=call[1]))
    assert ask(journal, 0, "w") is None
    earlier, intended = journal.earlier_write(0)
    assert (earlier.outcome, intended) == ("unknown", 5.0)
    assert journal.unconfirmed_writes() == (earlier,)


def test_numbering_holds_when_a_doubtful_write_failed():
    journal = restored(record(made(0, "w", outcome="unknown")), record(made(1, "w")))
    assert ask(journal, 0, "w") is None
    journal.record_outcome(made(0, "w", outcome="refused"))
    assert ask(journal, 1, "w").reused
    assert journal.unconfirmed_writes() == ()


def test_doubtful_writes_block_equal_ones():
    journal = Journal()
    journal.open()
    assert ask(journal, 0, "w") is None
    journal.record_outcome(made(0, "w", outcome="unknown"))
    refused = ask(journal, 1, "w")
    assert (refused.outcome, "not sent" in refused.error) == ("not_run", True)
    assert ask(journal, 2, "w", x=2) is None


def test_the_key_is_of_run_and_occurrence():
    def keys(run):
        journal = Journal(run=run)
        found = []
        for _ in range(2):
            journal.open()
            for index, x in enumerate([1, 1, 2]):
                ask(journal, index, "w", x=x)
                found.append(journal.key(index))
        return found

    first = keys("r1")
    assert first[:3] == first[3:]
    assert len({*first[:3], *keys("r2")[:3]}) == 6


def test_orphans_are_writes_of_earlier_executions():
    journal = Journal()
    execute(journal, write("w", x=1), write("w", x=2), read("a"))
    execute(journal, write("w", x=2), write("v"))
    assert [call.arguments for call in journal.orphans()] == [{"x": 1}]
    assert [call.tool for call in journal.writes()] == ["w", "w", "v"]
    execute(journal, write("w", x=1), write("w", x=2), write("v"))
    assert journal.orphans() == ()


def test_orphans_are_known_after_a_restart():
    journal = Journal()
    again = made(0, "w", x=2, reused=True)
    calls = [record(made(0, "w", x=1)), record(made(1, "w", x=2)), record(again, execution=1)]
    journal.restore(calls, TOOLS)
    assert [call.arguments for call in journal.orphans()] == [{"x": 1}]


def test_writes_that_somebody_ruled_out_are_sent_again():
    journal = Journal()
    journal.restore([record(made(0, "w"), complete=False)], TOOLS)
    journal.mark_not_sent()
    journal.open()
    assert ask(journal, 0, "w") is None
    assert journal.earlier_write(0) is None


def following(**results):
    """A journal of a run that follows one whose reads without arguments had these results."""
    known = {
        canonical_call(name, {"limit": 10}): ToolCall(
            index=7, tool=name, arguments={}, line=9, result=result, earlier=5.0
        )
        for name, result in results.items()
    }
    return Journal(find_earlier=known.get)


def test_an_earlier_run_answers_only_first_reads():
    assert execute(following(a=1, w=2), read("a"), read("a"), write("w")) == [True, False, False]
    journal = following(a=1, c=2)
    assert execute(journal, read("a"), write("w"), read("c")) == [True, False, False]
    assert [call.earlier for call in journal.completed_calls()] == [5.0, None, None]
    # The program begins otherwise: the first read was made before the write, the other is new.
    assert execute(journal, read("a"), read("c")) == [True, False]


def test_a_resumed_run_keeps_earlier_answers():
    stored: list[RecordedCall] = []
    journal = following(a=1)
    journal.sink = lambda execution, call, done: stored.append(
        RecordedCall(execution=execution, call=call, complete=done)
    )
    execute(journal, read("a"), write("b"))
    execute(journal, read("a"))
    again = Journal()
    again.restore([one for one in stored if one.complete], TOOLS)
    assert execute(again, read("a"), write("b"), read("a")) == [True, True, False]
