"""Failures that only a person can put right: the run waits with the remedy, and goes on without the model."""

from __future__ import annotations

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from atc.pipeline.attribute.failed_calls import REMEDY_NEEDED
from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from tests.labs.acting import turn
from tests.labs.tools import fenced, tool

REMEDY = "notes refused the credential 'key' (the variable KEY); renew it."
LOOP = 'for text in ["one", "two", "three"]:\n    add_note(text=text)\nprint("written")'
AT_ONCE = """
import asyncio

async def main():
    async with asyncio.TaskGroup() as group:
        for text in ["one", "two", "three"]:
            group.create_task(asyncio.to_thread(add_note, text=text))

asyncio.run(main())
print("written")
"""


class Call:
    """A call that sends a credential."""

    credentials = ("key",)

    def __init__(self, answer):
        self._answer = answer

    def __call__(self, arguments):
        return self._answer(arguments)


class Service:
    """Takes notes until it refuses the credential."""

    def __init__(self, status=401, takes=1):
        self.notes, self.status, self.takes = [], status, takes

    def tools(self):
        def add(arguments):
            if len(self.notes) >= self.takes:
                raise ToolError(self.status, "no", remedy=REMEDY)
            self.notes.append(arguments["text"])
            return {"id": len(self.notes)}

        def deny(_):
            raise ToolError(403, "not yours", remedy=REMEDY)

        made = tool("add_note", None, {"text": "string"}, reads=False)
        secret = tool("read_secret", None)
        object.__setattr__(made, "call", Call(add))
        object.__setattr__(secret, "call", Call(deny))
        return Toolbox([made, secret])


@pytest.fixture
def run(sandbox, store):
    def run(service, *programs, **settings):
        model = ScriptedModel(*map(fenced, programs))
        config = Config(samples=1, strategy="chain", allow_writes=("all",), **settings)
        agent = Agent(service.tools(), model=model, sandbox=sandbox, config=config, store=store)
        return agent, model, agent.run("Write the notes.")

    return run


@pytest.mark.parametrize("program", [LOOP, AT_ONCE], ids=["one by one", "at once"])
def test_a_refused_credential_pauses_and_resumes(run, program):
    service = Service()
    agent, model, solution = run(service, program)
    last = solution.attempts[-1]
    assert (solution.status, solution.problem) == ("paused", REMEDY)
    assert (last.trace.failure.type, last.fault.kind) == (REMEDY_NEEDED, "tool_failed")
    service.takes = 9
    again = agent.resume(solution.run_id)
    assert (again.status, again.answer) == ("solved", "written")
    assert sorted(service.notes) == ["one", "three", "two"]
    assert len(model.prompts) == 1


def test_a_run_still_refused_pauses_again(run):
    service = Service()
    agent, model, solution = run(service, LOOP)
    again = agent.resume(solution.run_id)
    assert (again.status, again.problem, len(model.prompts)) == ("paused", REMEDY, 1)


@pytest.mark.parametrize(
    ("call", "raised"),
    [
        ("add_note(text='x')", 'raise SystemExit("no note")'),
        ("add_note(text='x')", 'raise RuntimeError("no note")'),
        ("add()", "stop()"),
    ],
    ids=["exit", "error", "helpers"],
)
def test_a_raise_in_the_handler_pauses(run, call, raised):
    helpers = (
        "def add():\n    return add_note(text='x')\n\ndef stop():\n    raise ValueError('no')\n\n"
    )
    program = f"{helpers}try:\n    print({call})\nexcept ToolError:\n    {raised}"
    assert run(Service(takes=0), program)[2].problem == REMEDY


CAUGHT = "try:\n    add_note(text='x')\nexcept ToolError:\n    pass\n"
IN_ITS_HANDLER = "try:\n    print(add_note(text='x'))\nexcept ToolError:\n    print({}['id'])"
IN_ANOTHER_HANDLER = "try:\n    print({}['id'])\nexcept KeyError:\n    raise SystemExit('no id')"
IN_A_GROUP = """
import asyncio

async def fail():
    return {}["id"]

async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(fail())
        group.create_task(fail())

asyncio.run(main())
print("never")
"""


@pytest.mark.parametrize(
    "program",
    [
        IN_ITS_HANDLER,
        CAUGHT + IN_ANOTHER_HANDLER,
        CAUGHT + IN_A_GROUP,
        CAUGHT + "if True:\n    raise ToolError(400, 'of the program')\nprint('never')",
    ],
    ids=["its handler", "another handler", "a group", "a raise"],
)
def test_own_mistakes_after_a_refusal_are_repaired(run, program):
    other = CAUGHT + "print('no note')"
    _, _, solution = run(Service(takes=0), program, other, other)
    assert (solution.status, solution.answer, solution.repairs) == ("solved", "no note", 1)
    assert solution.attempts[0].trace is not None


def test_an_answer_despite_the_failure_stands(run):
    program = """
done = []
for text in ["one", "two"]:
    try:
        add_note(text=text)
        done.append(text)
    except ToolError:
        pass
print(done)
"""
    solution = run(Service(), program)[2]
    assert (solution.status, solution.answer) == ("solved", "['one']")
    assert solution.notes == (f"the program went on without a call: {REMEDY}",)


@pytest.mark.parametrize("program", [LOOP, AT_ONCE], ids=["one by one", "at once"])
def test_a_403_pauses_if_nothing_succeeded(run, program):
    _, model, solution = run(Service(status=403, takes=0), program)
    assert (solution.status, len(model.prompts)) == ("paused", 1)


def test_a_403_after_a_success_is_repaired_once(run):
    program = "add_note(text='one')\nprint(read_secret())"
    other = "add_note(text='one')\nprint(1, read_secret())"
    _, model, solution = run(Service(), program, other, "print('too late')")
    assert (solution.status, len(model.prompts)) == ("failed", 2)
    assert "do not allow this call" in model.prompts[1][-1].content
    _, _, mended = run(Service(), program, "add_note(text='one')\nprint('no secret')")
    assert (mended.status, mended.answer) == ("solved", "no secret")


@pytest.mark.parametrize("strategy", ["stepwise", "auto", "codeact", "react"])
def test_every_strategy_waits_for_the_remedy(sandbox, store, strategy):
    service = Service(takes=0)
    program = fenced("add_note(text='one')\nprint('ANSWER:', 'written')")
    reply = turn("add_note", text="one") if strategy == "react" else program
    model = ScriptedModel(reply, reply)
    config = Config(samples=1, strategy=strategy, allow_writes=("all",), decoding="off")
    agent = Agent(service.tools(), model=model, sandbox=sandbox, config=config, store=store)
    solution = agent.run("Write the note.")
    assert (solution.status, solution.problem, len(model.prompts)) == ("paused", REMEDY, 1)


def test_a_given_program_waits_and_goes_on(sandbox, store):
    service = Service()
    config = Config(allow_writes=("all",))
    agent = Agent(service.tools(), model="none", sandbox=sandbox, config=config, store=store)
    solution = agent.execute(LOOP)
    assert (solution.status, solution.problem) == ("paused", REMEDY)
    service.takes = 9
    assert agent.resume(solution.run_id).answer == "written"
    assert service.notes == ["one", "two", "three"]
