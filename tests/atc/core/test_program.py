"""A program is parsed once, however many parts of a run use its syntax tree."""

from __future__ import annotations

import pickle
from collections import Counter

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.core.program import Program, ProgramTooLong
from atc.core.replies import program_in_reply
from atc.models.scripted import ScriptedModel
from protocols import python_source
from protocols.toolbox import Toolbox
from tests.labs.tools import TEXT, fenced, record, tool

MISREAD = "people = list_people()['peeple']\nprint(get_note(person=people[0])['txt'])\n"
FAILS = "people = list_people()['people']\nprint(get_note(person=people[7]))\n"
READS = "people = list_people()['people']\nprint('ANSWER:', get_note(person=people[0]))\n"
FIXED = "print(get_note(person=list_people()['peoples'][0]))\n"
"""The key is corrected from the response, without asking the model."""
SECRET = f"password = 'correct horse'\n{READS}"


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each source was parsed."""
    counted: Counter[str] = Counter()
    parse = python_source._tree
    program_in_reply.cache_clear()

    def counting(source: str, mode: str, *options: int, **more: int) -> object:
        counted[source] += 1
        return parse(source, mode, *options, **more)

    monkeypatch.setattr(python_source, "_tree", counting)
    return counted


@pytest.mark.parametrize(
    ("strategy", "programs"),
    [
        ("auto", (MISREAD, FAILS, SECRET)),
        ("chain", (MISREAD, FAILS, SECRET)),
        ("chain", (FIXED,)),
        ("stepwise", (MISREAD, FAILS, SECRET)),
        ("codeact", (MISREAD, FAILS, SECRET)),
    ],
)
def test_each_program_of_a_run_is_parsed_once(sandbox, store, parsed, strategy, programs):
    tools = Toolbox(
        [
            tool("list_people", {"people": ["p0", "p1"]}, {}, None),
            tool("get_note", {"text": "milk"}, {"person": TEXT}, record(text=TEXT)),
        ]
    )
    replies = [*map(fenced, programs), "ANSWER: milk"]
    events: list[object] = []
    config = Config(strategy=strategy, max_repairs=3)
    model = ScriptedModel(*replies)
    with Agent(tools, model=model, sandbox=sandbox, store=store, config=config) as agent:
        solution = agent.run("What does the note of p0 say?", observer=events.append)
    assert len(solution.attempts) >= len(programs)
    assert parsed.keys() >= set(programs)
    assert {source: count for source, count in parsed.items() if count > 1} == {}


def test_broken_programs_have_errors_and_names():
    program = Program("print(list_people(")
    assert (program.tree.body, program.names) == ([], ("print", "list_people"))
    assert isinstance(program.parse_error, SyntaxError)
    assert Program("print(1)").parse_error is None
    assert isinstance(Program("x = 1\n" * 40_000).parse_error, ProgramTooLong)


def test_a_tree_is_not_sent_to_other_processes():
    program = Program(READS)
    assert program.tree.body
    sent = pickle.loads(pickle.dumps(program))
    assert (sent, "_parsed" in vars(sent)) == (program, False)
