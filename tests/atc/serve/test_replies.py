"""The parts of a gateway's reply."""

from atc.core.program import Program
from atc.core.types import Attempt, Solution
from atc.pipeline.attribute.failed_calls import REMEDY_NEEDED
from atc.serve.replies import call_line, run_reply
from sandbox.trace import Failure, ToolCall, Trace


def test_a_call_is_one_line():
    call = ToolCall(
        index=0,
        tool="get_film",
        arguments={"film_id": 7},
        line=1,
        result={"title": "x"},
        seconds=0.012,
    )
    assert call_line(call) == "line 1: get_film(film_id=7) → {title: string} · 12 ms"


def test_a_printed_object_is_the_answer():
    trace = Trace(stdout="[1, None]\n", printed=([1, None],))
    attempt = Attempt(Program("print([1, None])"), trace=trace)
    reply = run_reply(Solution(task="", attempts=(attempt,), status="solved"), "r1.x", list)
    assert reply["answer"] == [1, None]


def test_a_remedy_is_told_as_a_persons_work():
    remedy = "add_note: notes refused the credential 'key' (the variable KEY); renew it."
    failure = Failure(kind="paused", type=REMEDY_NEEDED, message=remedy)
    attempt = Attempt(Program("add_note()"), trace=Trace(failure=failure))
    reply = run_reply(Solution(task="", attempts=(attempt,), status="paused"), "r1.x", str)
    assert reply["next"].startswith("add_note: notes refused the credential 'key'")
    assert "A person must do that" in reply["next"]
    assert "resume_run(run='r1.x')" in reply["next"]


def test_a_look_is_no_failure():
    attempt = Attempt(Program("look(get_film())"), trace=Trace(looked=({"title": "x"},)))
    reply = run_reply(Solution(task="", attempts=(attempt,), status="failed"), "r1.x", list)
    assert (reply["status"], reply["looked"]) == ("looked", [{"title": "x"}])
