"""Runs that were interrupted, killed or paused, and go on: nothing is asked or written a second time."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import Counter
from contextlib import ExitStack, contextmanager

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from atc.store import RunRefused, UnknownRun
from benchmarks.kills.__main__ import HostForker
from benchmarks.kills.cases import Gate, Kill, RunRemains, Trap
from benchmarks.kills.host import mortal_store
from protocols.client import Invoker
from protocols.sources import load_tools
from tests.labs.notes_service import OPERATIONS, SCHEMAS, TEXT, Context, operation
from tests.labs.patience import PATIENCE
from tests.labs.stores import both_stores
from tests.labs.tools import record
from toolflow_bench.services.faults import Faults
from toolflow_bench.services.operation import Arguments
from toolflow_bench.services.rest import Routes, build_app
from toolflow_bench.services.serve import serve

pytestmark = pytest.mark.usefixtures("shared_sandbox")

TASK = "Note 'one', star it, mail 'three', note 'four', and say how many notes there are."
MAIL = 'send_mail(text="three")'
PROGRAM = f"""
note = add_note(text="one")
star_note(note_id=note["note_id"], stars=3)
{MAIL}
add_note(text="four")
print(len(list_notes()))
"""
PATIENT = {"settle_seconds": 1.4}
"""For writes that show late."""
GOLD = ["add_note one", "star_note 3", "send_mail three", "add_note four"]


def star(context: Context, arguments: Arguments) -> dict:
    return context.state.change(
        "notes",
        arguments["note_id"],
        otherwise="there is no note of this id.",
        stars=arguments["stars"],
    )


def mail(context: Context, arguments: Arguments) -> dict:
    context.state.add("mails", {"text": arguments["text"]}, id_field="mail_id", prefix="ma")
    return {"sent": True}


def pins(context: Context, arguments: Arguments) -> dict:
    return {"pins": context.state.all("pins")[: arguments["limit"]]}


def pin(context: Context, arguments: Arguments) -> dict:
    return dict(
        context.state.add("pins", {"text": arguments["text"]}, id_field="pin_id", prefix="pi")
    )


ALL_SCHEMAS = {
    **SCHEMAS,
    "Sent": record(sent="boolean"),
    "Pin": record(pin_id="string", text="string"),
    "Pins": record(pins={"type": "array", "items": {"$ref": "#/components/schemas/Pin"}}),
}


STARS, LIMIT = (
    {"type": "integer", "minimum": 0, "maximum": 9, **more} for more in ({}, {"default": 3})
)
ALL = (
    *OPERATIONS,
    operation(
        "star_note",
        "PUT",
        "/notes/{note_id}/stars",
        "Note",
        star,
        "list_notes",
        note_id=TEXT,
        stars=STARS,
    ),
    operation("send_mail", "POST", "/mails", "Sent", mail, text=TEXT),  # nothing lists it
    operation("add_pin", "POST", "/pins", "Pin", pin, "list_pins", text=TEXT),
    operation("list_pins", "GET", "/pins", "Pins", pins, limit=LIMIT),  # the oldest alone
)


class Interrupted(BaseException):
    """Ends a run in a process that is not ours to kill."""


class Notes:
    """The notes service in this process, with a gate before it."""

    def __init__(self, stack: ExitStack) -> None:
        info = {"title": "Notes", "version": "1"}
        app = build_app(ALL, context=Context(), info=info, schemas=ALL_SCHEMAS, close=lambda: None)
        self.served = stack.enter_context(serve(app))
        self.trap = Trap()
        app.middleware_stack = Gate(
            app.middleware_stack, Routes(ALL), self.trap, slow_seconds=0.0, late_seconds=0.7
        )
        invoker = Invoker()
        stack.callback(invoker.close)
        self.toolbox = load_tools(self.served.document_url, invoker=invoker)

    @property
    def wrote(self) -> list[str]:
        """What was written, in order: the operation, and what it was given first."""
        written = RunRemains(
            log={"": self.served.app.state.control.requests}, state={}, status="", answer=None
        ).writes("")
        return [
            " ".join([name, *map(str, list(json.loads(arguments).values())[-1:])])
            for name, arguments in written
        ]


@pytest.fixture(scope="module")
def running():
    with ExitStack() as stack:
        yield Notes(stack)


@pytest.fixture
def notes(running):
    running.served.app.state.control.reset()
    running.served.app.state.control.set_faults(None)
    return running


# --- killed processes


@pytest.fixture(scope="module")
def nursery(running):
    with HostForker([running.served.document_url]) as opened:
        yield opened


@pytest.fixture
def host(nursery, notes, place):
    """Lets a host process begin the run in this test's store, or go on with it; gives what it says before it ends."""
    order = {"task": TASK, "program": PROGRAM, "candidates": list(notes.toolbox), "store": place}
    order |= {"sandbox": "zygote", "settle_seconds": 0.3}

    def run(kill: Kill | None = None, **changed):
        said = nursery.host({**order, **changed}, kill, notes.trap)
        assert "crashed" not in said
        assert ("ended" in said) == (kill is None)
        return said.get("ended")

    return run


@both_stores
@pytest.mark.parametrize(("moment", "nth"), [("intended", 1), ("applied", 1)])
def test_a_killed_run_goes_on_where_it_was(host, notes, moment, nth) -> None:
    """The first write has a key, the second is verified by a read."""
    host(Kill(moment=moment, nth=nth))
    end = host()
    assert (end["status"], end["answer"]) == ("solved", "2"), end
    assert notes.wrote == GOLD


def test_a_write_that_shows_late_is_waited_for(host, notes) -> None:
    """The service is still at work on it when the run goes on, and the read does not show it yet."""
    host(Kill(moment="late", nth=1), **PATIENT)
    assert host(**PATIENT)["status"] == "solved"
    assert notes.wrote == GOLD


@pytest.mark.parametrize("seed", [0, 2])
def test_a_lost_answer_causes_no_second_write(host, notes, seed) -> None:
    """Nobody is killed; answers are lost after the work was done."""
    notes.served.app.state.control.set_faults(Faults(rate_drop_after=0.3, seed=seed))
    status = host()["status"]
    lost = [
        record.operation
        for record in notes.served.app.state.control.requests
        if record.fault and record.wrote
    ]
    assert lost
    assert status == ("paused" if "send_mail" in lost else "solved")
    assert notes.wrote == (GOLD[:3] if "send_mail" in lost else GOLD)


@pytest.mark.parametrize(("moment", "nth"), [("intended", 2), ("working", 4)])
def test_concurrent_writes_are_told_apart(host, notes, moment, nth) -> None:
    """Two of them are equal, others change the same list."""
    program = """
import asyncio
ids = [add_note(text=text)["note_id"] for text in ("a", "b")]
async def main():
    stars = [asyncio.to_thread(star_note, note_id=one, stars=3) for one in ids]
    pins = [asyncio.to_thread(add_pin, text="same") for _ in range(2)]
    await asyncio.gather(*stars, *pins, asyncio.to_thread(add_note, text="c"))
asyncio.run(main())
print(len(list_notes()), len(list_pins(limit=9)))
"""
    host(Kill(moment=moment, nth=nth), program=program)
    end = host(program=program)
    expected = [
        "add_note a",
        "add_note b",
        "add_note c",
        "add_pin same",
        "add_pin same",
        "star_note 3",
        "star_note 3",
    ]
    if end["status"] == "solved":
        assert (end["answer"], sorted(notes.wrote)) == ("3 2", expected)
    else:  # the list of pins gives a part of them: that one is not there proves nothing
        assert "add_pin may or may not have taken effect" in end["detail"]
        assert not Counter(notes.wrote) - Counter(expected)


def test_a_record_missing_from_a_page_may_exist(host, notes) -> None:
    program = "for n in range(4):\n    add_pin(text=f'{n}')\nprint('done')"
    host(Kill(moment="applied", nth=3), program=program)
    assert host(program=program)["status"] == "paused"
    assert notes.wrote == ["add_pin 0", "add_pin 1", "add_pin 2", "add_pin 3"]


# --- interrupted in this process


@pytest.fixture
def agent(notes, sandbox, place):
    """Makes an agent over the stored runs, with a model of these replies; `kill` says when it is interrupted."""

    @contextmanager
    def made(*replies: str, kill: Kill | None = None, **settings):
        def interrupt(struck):
            raise Interrupted(struck)

        config = Config(
            **{"allow_writes": ("all",), "samples": 1, "settle_seconds": 0.2, **settings}
        )
        model = ScriptedModel(*replies)
        with mortal_store(place, kill, notes.toolbox, interrupt) as store:
            yield Agent(notes.toolbox, model=model, sandbox=sandbox, config=config, store=store)

    return made


def interrupted(agent, *replies: str, kill: Kill, **settings) -> None:
    with agent(*replies, kill=kill, **settings) as first, pytest.raises(Interrupted):
        first.run(TASK)


@pytest.mark.parametrize(("moment", "nth"), [("attempted", 1), ("intended", 2)])
def test_an_interrupted_run_goes_on_where_it_was(agent, notes, moment, nth) -> None:
    """The third write is one that nothing shows; here it is known that it was not sent."""
    interrupted(agent, PROGRAM, kill=Kill(moment=moment, nth=nth))
    with agent() as second:  # a model without replies: being asked anything would fail
        solution = second.resume("last")
    assert (solution.status, solution.answer) == ("solved", "2")
    assert notes.wrote == GOLD
    assert solution.unknown_writes == solution.orphans == ()


def test_a_skipped_unknown_write_is_not_sent_again(agent, notes) -> None:
    program = PROGRAM.replace(MAIL, f"try:\n    {MAIL}\nexcept ToolError:\n    print('not sent')")
    interrupted(agent, program, kill=Kill(moment="replied", nth=2))
    with agent() as second:
        paused = second.resume("last")
    assert paused.status == "paused"
    assert [call.tool for call in paused.unknown_writes] == ["send_mail"]
    with agent(on_unknown="skip") as third:
        assert third.resume("last").answer == "not sent\n2"
    assert notes.wrote == GOLD


def test_a_resumed_process_keeps_its_pins(agent, notes) -> None:
    program = (
        "import random, time, uuid\n"
        "for _ in range(2):\n"
        "    add_note(text=f'{random.random():.6f} {uuid.uuid4().hex[:6]} {time.time():.0f}')\n"
        "send_mail(text='done')\nprint(len(list_notes()))"
    )
    interrupted(agent, program, kill=Kill(moment="replied", nth=1))
    first = list(notes.wrote)
    with agent() as second:
        assert second.resume("last").answer == "2"
    assert notes.wrote == [*first, "send_mail done"]


@both_stores
def test_a_larger_budget_continues_a_run(agent, notes) -> None:
    wrong = "add_note(text='one')\nprint(1 // 0)"
    with agent(wrong, max_repairs=2, max_model_calls=1) as first:
        ended = first.run(TASK)
    assert (ended.status, ended.limit, notes.wrote) == ("failed", "max_model_calls = 1", GOLD[:1])
    with agent(max_repairs=2, max_model_calls=1) as second:
        assert second.resume(ended.run_id).limit == "max_model_calls = 1", (
            "it has no more than before"
        )
    with agent(PROGRAM, max_repairs=2, max_model_calls=2) as third:
        solution = third.resume(ended.run_id)
        assert (solution.status, solution.answer, solution.usage.model_calls) == ("solved", "2", 2)
        with pytest.raises(RunRefused, match="is solved"):
            third.resume(ended.run_id)
        with pytest.raises(UnknownRun):
            third.resume("nothing-like-it")
    assert notes.wrote == GOLD


def test_more_time_continues_a_run_out_of_time(agent, notes) -> None:
    program = "import time\nadd_note(text='one')\ntime.sleep(3.1)\nprint(len(list_notes()))"
    with agent(program, max_repairs=1, max_seconds=3) as first:
        ended = first.run(TASK)
    assert (ended.status, ended.limit) == ("failed", "max_seconds = 3")
    with agent(max_repairs=1, max_seconds=PATIENCE) as second:
        assert second.resume(ended.run_id).answer == "1"
    assert notes.wrote == GOLD[:1]


# --- through the command line


def test_an_interrupted_command_says_how_to_resume(own_folders, atc_, notes, monkeypatch) -> None:
    (own_folders / "script.json").write_text(json.dumps([PROGRAM]), encoding="utf-8")
    monkeypatch.setenv("ATC_SETTLE_SECONDS", "5")
    words = (
        "--allow-writes",
        "all",
        "--tools",
        notes.served.document_url,
        "--model",
        "scripted:script.json",
    )
    notes.trap.arm(Kill(moment="applied", nth=1), lambda: os.kill(os.getpid(), signal.SIGINT))
    code, _, err = atc_("run", TASK, *words)
    assert code == 130, err
    assert re.search(r"atc: interrupted\.\n(.*\n)+Go on with: atc runs resume 2\S+\n$", err), err
    code, out, err = atc_("runs", "resume", "last")
    assert (code, out) == (0, "2\n"), err
    assert notes.wrote == GOLD
