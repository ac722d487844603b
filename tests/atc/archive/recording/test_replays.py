"""Every solved run that is stored gives its answer again from its file, without its tools."""

from __future__ import annotations

import json
from itertools import count

import pytest

from atc.agent import Agent
from atc.archive.recording import Replayer, make_recording
from atc.archive.recording.document import parse_recording, to_document
from atc.core.config import Config
from atc.store import Store
from atc.strategies import STRATEGIES
from protocols.errors import ModelUnavailable, ToolError
from protocols.toolbox import Toolbox
from sandbox.choose import availability, open_sandbox
from tests.labs.paths import DATA
from tests.labs.strategy_player import MARKS, ODD, READS, TASK, TROUBLE, Player, Stage, World
from tests.labs.tools import TEXT, tool, writing


@pytest.fixture(scope="module")
def replayer():
    with Replayer() as ready:
        yield ready


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "runs.sqlite") as opened:
        yield opened


@pytest.fixture
def replays(store, replayer):
    """Check that a solved run gives its answer again from its file; return the sandbox's name."""

    def check(solution):
        assert (solution.status, solution.answer is None) == ("solved", False), solution
        text = json.dumps(to_document(make_recording(store.load(solution.run_id))))
        recording = parse_recording(text, where="run.json")
        assert recording.answer == solution.answer
        verdict = replayer.rerun(recording)
        assert verdict.departure is None, recording.program
        return verdict.backend

    return check


# --- strategies


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "plan", [READS, MARKS, TROUBLE, ODD], ids=["reads", "writes", "trouble", "odd"]
)
def test_a_run_of_every_strategy_replays(sandbox, store, replays, strategy, plan):
    agent = Stage(sandbox).agent(strategy, Player(plan), store=store, allow_writes=("all",))
    replays(agent.run(TASK))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_over_undescribed_tools_replays(sandbox, store, replays, strategy):
    stage = Stage(sandbox, World(described=False))
    replays(stage.agent(strategy, Player(READS), store=store).run(TASK))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_that_waited_for_consent_replays(sandbox, store, replays, strategy):
    agent = Stage(sandbox).agent(strategy, Player(MARKS), store=store)
    paused = agent.run(TASK)
    assert paused.status == "paused"
    replays(agent.resume(paused.run_id, ask_person=lambda _: True))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_that_outlived_an_outage_replays(sandbox, store, replays, strategy):
    stage, broken = Stage(sandbox), Player(READS, down=frozenset({1}))
    try:
        solution = stage.agent(strategy, broken, store=store).run(TASK)
    except ModelUnavailable:
        solution = stage.agent(strategy, Player(READS), store=store).resume("last")
    if solution.status != "solved":
        solution = stage.agent(strategy, Player(READS), store=store).resume(solution.run_id)
    replays(solution)


# --- programs

PROGRAMS = dict(
    case.rstrip("\n").split("\n", 1)
    for case in (DATA / "replayed_programs.txt").read_text("utf-8")[3:].split("\n== ")
)


@pytest.fixture
def toolbox():
    serial = count()

    def get_note(arguments):
        if arguments["id"] == "p9":
            raise ToolError(404, "no such person")
        return {"text": f"note of {arguments['id']}", "serial": next(serial)}

    odd = {
        "numbers": [0, -1, 2**60, 0.1, 1e300, True, None],
        "texts": ["", "\u2028", "a\nb", "\U0001f600", "\x00"],
        "deep": [[[[[["end"]]]]]],
    }
    large = {"rows": [{"id": n, "text": "x" * 50} for n in range(2000)]}
    mail = {"token": TEXT, "folder": {"type": "string", "default": "inbox"}}
    sent = lambda _: {"mail_id": next(serial)}  # noqa: E731
    return Toolbox(
        [
            tool("get_note", get_note, {"id": TEXT}),
            tool("send_mail", sent, {"to": TEXT}, reads=False),
            tool("fetch_mail", {"mail": 3}, mail),
            tool("get_odd", odd),
            tool("get_large", large),
        ]
    )


def agent_of(toolbox, sandbox, store, *programs):
    config = Config(samples=1, strategy="chain", allow_writes=("all",))
    return Agent(toolbox, model=writing(*programs), sandbox=sandbox, config=config, store=store)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_run_of_any_program_replays(toolbox, sandbox, store, replays, program):
    agent = agent_of(toolbox, sandbox, store, program, program)
    assert replays(agent.run("Do it.")) == "zygote"


@pytest.mark.parametrize("name", ["monty", "docker", "unconfined"])
def test_a_run_in_any_sandbox_replays(toolbox, store, replays, name):
    if reason := availability(name).reason:
        pytest.skip(reason)
    with open_sandbox(name) as opened:
        replays(agent_of(toolbox, opened, store, PROGRAMS["a call in a loop"]).run("Do it."))


def test_a_repaired_run_replays(toolbox, sandbox, store, replays):
    wrong = "note = get_note(id='p1')\nprint(note['txet'])"
    solution = agent_of(toolbox, sandbox, store, wrong, PROGRAMS["one call"]).run("Do it.")
    assert solution.repairs == 1
    replays(solution)


def test_a_continued_program_replays(toolbox, sandbox, store, replays):
    agent = agent_of(toolbox, sandbox, store, PROGRAMS["one call"])
    first = agent.execute("n = get_note(id='p1')\nprint(n['txet'])")
    assert first.status == "failed"
    replays(agent.execute("n = get_note(id='p1')\nprint(n['text'])", continues=first.run_id))
