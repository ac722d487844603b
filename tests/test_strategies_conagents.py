"""ConAgents: four agents driven by scripted replies over the real sandbox."""

from __future__ import annotations

import json

import pytest

from atc.agent import Agent
from atc.config import Config
from atc.events import ModelAsked
from atc.models.scripted import ScriptedModel
from atc.store import Store
from atc.strategies.conagents import MOST_ROUNDS, MOST_STEPS
from protocols.ask import Powers
from protocols.errors import ModelUnavailable, ToolError
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.zygote import ZygoteSandbox

TEXT = {"type": "string"}
FILMS = {"p1": ["Metropolis", "M"], "p2": ["Jaws"]}
TASK = "What was the first film of Lang?"


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as running:
        yield running


@pytest.fixture
def sent():
    """Every call that really reached a tool."""
    return []


@pytest.fixture
def toolbox(sent):
    def find_person(arguments):
        return {"id": "p1" if arguments["name"] == "Lang" else "p2", "name": arguments["name"]}

    def list_films(arguments):
        if arguments["person"] not in FILMS:
            raise ToolError(404, "there is no such person")
        return [{"title": title, "pages": "x" * arguments["pages"]} for title in FILMS[arguments["person"]]]

    def add_mark(arguments):
        return {"mark": f"m{len(sent)}"}

    def tool(name, call, /, reads=True, required=None, **properties):
        def recorded(arguments):
            sent.append((name, dict(arguments)))
            return call({"pages": 1, **arguments})

        required = list(properties) if required is None else required
        schema = {"type": "object", "properties": properties, "required": required}
        annotations = Annotations(read_only=reads)
        return Tool(
            ToolProtocol(name=name, description=f"{name}.", input_schema=schema, annotations=annotations), recorded
        )

    return Toolbox(
        [
            tool("find_person", find_person, name=TEXT),
            tool("list_films", list_films, required=["person"], person=TEXT, pages={"type": "integer"}),
            tool("add_mark", add_mark, reads=False, person=TEXT),
        ]
    )  # fmt: skip


@pytest.fixture
def solve(toolbox, sandbox):
    def run(*replies, model=None, store=None, **settings):
        model = model or ScriptedModel(*replies)
        agent = Agent(
            toolbox, model=model, sandbox=sandbox, store=store, config=Config(**{"strategy": "conagents", **settings})
        )
        events = []
        return agent.run(TASK, observer=events.append), model, [e.purpose for e in events if isinstance(e, ModelAsked)]

    return run


def call(tool, /, **arguments):
    return json.dumps({"name": tool, "arguments": arguments})


def instruct(instruction, tool, wanted="it"):
    return call("instruct", instruction=instruction, tool=tool, wanted=wanted)


def send_back(feedback, to):
    return call("send_back", feedback=feedback, to=to)


ACCEPT = call("accept")
FIND = (
    instruct("Find Lang.", "find_person", "the id"),
    ACCEPT,
    call("find_person", name="Lang"),
    ACCEPT,
    "The id is p1.",
)
LIST = (instruct("List the films of Lang (p1).", "list_films"), ACCEPT, call("list_films", person="p1"), ACCEPT, "M.")
STEP = ["ground", "review", "execute", "review", "observe"]


def last(model, turn):
    return model.prompts[turn][-1].content


def agent_of(messages):
    """Whose prompt this is."""
    words = {"guide": "ground", "carry": "execute", "review": "review", "read": "observe"}
    return words[messages[0].content.split()[1]]


def test_each_step_is_grounded_reviewed_executed_and_observed(solve, sent):
    solution, _, purposes = solve(*FIND, *LIST, call("finish", answer="Metropolis"))
    assert (solution.status, solution.answer, solution.calls) == ("solved", "Metropolis", 2)
    assert purposes == [*STEP, *STEP, "ground"]
    assert sent == [("find_person", {"name": "Lang"}), ("list_films", {"person": "p1"})]
    assert solution.attempts[-1].program.source.count("find_person(") == 1
    assert "print('Metropolis')" in solution.attempts[-1].program.source


def test_only_what_was_observed_is_known_from_then_on(solve):
    _, model, _ = solve(*FIND, *LIST, call("finish", answer="M"))
    assert "'name': 'Lang'" in last(model, 4)
    assert last(model, 5).startswith("Result: The id is p1.")
    assert "Find Lang.\nThe id is p1." in last(model, 6)
    assert "Find Lang.\nThe id is p1." in last(model, 7)
    for prompt in model.prompts[5:]:
        assert not any("'name': 'Lang'" in message.content for message in prompt)


def test_a_wrong_call_is_sent_back_corrected_and_accepted(solve, sent):
    solution, model, purposes = solve(
        FIND[0], ACCEPT, call("find_person", name="Spielberg"), send_back("The name is Lang.", "execution"),
        *FIND[2:], call("finish", answer="p1"),
    )  # fmt: skip
    assert (solution.answer, sent) == ("p1", [("find_person", {"name": "Lang"})])
    assert purposes == ["ground", "review", "execute", "review", "execute", "review", "observe", "ground"]
    assert 'find_person(name="Spielberg")' in last(model, 3)
    assert [m.role for m in model.prompts[4]] == ["system", "user", "assistant", "user"]
    assert "The name is Lang." in last(model, 4)


def test_a_wrong_choice_of_tool_is_calibrated(solve, sent):
    solution, model, purposes = solve(
        instruct("Find Lang.", "list_films"), send_back("find_person finds people.", "grounding"),
        *FIND, call("finish", answer="p1"),
    )  # fmt: skip
    assert (solution.answer, sent) == ("p1", [("find_person", {"name": "Lang"})])
    assert purposes == ["ground", "review", *STEP, "ground"]
    assert "find_person finds people." in last(model, 2)
    assert not any("find_person finds people." in message.content for message in model.prompts[-1])


def test_review_of_a_call_may_blame_the_instruction(solve, sent):
    solution, _, purposes = solve(
        instruct("List the films of Lang.", "list_films"), ACCEPT, call("list_films", person="Lang"),
        send_back("The id must be found first.", "grounding"), *FIND, call("finish", answer="p1"),
    )  # fmt: skip
    assert (solution.answer, sent) == ("p1", [("find_person", {"name": "Lang"})])
    assert purposes == [*STEP[:4], *STEP, "ground"]


def test_a_call_that_fails_is_calibrated_by_execution(solve, sent):
    solution, model, purposes = solve(
        LIST[0], ACCEPT, call("list_films", person="p7"), ACCEPT, send_back("The id is p1.", "execution"),
        *LIST[2:], call("finish", answer="M"),
    )  # fmt: skip
    assert (solution.status, solution.answer) == ("solved", "M")
    assert sent == [("list_films", {"person": "p7"}), ("list_films", {"person": "p1"})]
    assert purposes == [*STEP[:4], "review", "execute", "review", "observe", "ground"]
    assert "404" in last(model, 4)
    assert "p7" not in solution.attempts[-1].program.source


def test_a_call_that_fails_is_calibrated_by_grounding(solve, sent):
    solution, model, purposes = solve(
        LIST[0], ACCEPT, call("list_films", person="p7"), ACCEPT, send_back("Find the person.", "grounding"),
        *FIND, call("finish", answer="p1"),
    )  # fmt: skip
    assert solution.answer == "p1"
    assert purposes == [*STEP[:4], "review", *STEP, "ground"]
    assert "Find the person." in last(model, 5)


def test_a_failure_nobody_is_blamed_for_is_told_to_grounding(solve, sent):
    solution, model, purposes = solve(
        LIST[0], ACCEPT, call("list_films", person="p7"), ACCEPT, "I cannot say.", call("finish", answer="none"),
        decoding="off",
    )  # fmt: skip
    assert solution.answer == "none"
    assert purposes == [*STEP[:4], "review", "ground"]
    assert "404" in last(model, 5)


def test_malformed_replies_are_told_and_written_again(solve, sent):
    solution, model, purposes = solve(
        "I would find Lang.", *FIND[:2], call("find_person", who="Lang"), call("find_person", name="Lang"),
        "It is fine.", "p1", call("finish", answer="p1"), decoding="off",
    )  # fmt: skip
    assert (solution.answer, sent) == ("p1", [("find_person", {"name": "Lang"})])
    assert purposes == ["ground", "ground", "review", "execute", "execute", "review", "observe", "ground"]
    assert "There is no call in the reply" in last(model, 1)
    assert "who" in last(model, 4)


def test_malformed_replies_are_sampled_again_where_calls_are_held(solve):
    solution, model, _ = solve("Find Lang!", *FIND, call("finish", answer="p1"), decoding="calls")
    assert solution.answer == "p1"
    assert (model.options[0]["temperature"], model.options[1]["temperature"]) == (0.0, 0.7)


def test_an_unknown_tool_is_told_with_those_there_are(solve, sent):
    solution, model, purposes = solve(
        instruct("Find Lang.", "search"), *FIND, call("finish", answer="p1"), decoding="off"
    )  # fmt: skip
    assert solution.answer == "p1"
    assert purposes == ["ground", *STEP, "ground"]
    assert "list_films" in last(model, 1).removeprefix(last(model, 0))


def test_execution_can_call_the_chosen_tool_alone(solve, sent):
    solution, model, _ = solve(
        *FIND[:2], call("add_mark", person="p1"), *FIND[2:], call("finish", answer="p1"), decoding="off",
        allow_writes=("all",),
    )  # fmt: skip
    assert (solution.answer, sent) == ("p1", [("find_person", {"name": "Lang"})])
    assert "add_mark" in last(model, 3)


def test_an_answer_of_nothing_is_asked_for_again(solve):
    solution, _, purposes = solve(call("finish", answer=""), call("finish", answer="M"), decoding="off")
    assert (solution.answer, purposes) == ("M", ["ground", "ground"])


@pytest.mark.parametrize("to", ["grounding", "execution"])
def test_endless_review_ends(solve, sent, to):
    def reply(messages):
        prompt = messages[-1].content
        match agent_of(messages):
            case "ground":
                return FIND[0]
            case "execute":
                return call("find_person", name="Lang")
            case "review":
                blamed = to if "Execution's call" in prompt else "grounding"
                return ACCEPT if to != blamed else send_back("No.", blamed)
        return "The id is p1."

    solution, _, purposes = solve(model=ScriptedModel(*[reply] * 1000), max_calls=3)
    assert (solution.status, solution.limit, solution.calls) == ("failed", "max_calls = 3", 3)
    again = purposes.count("ground" if to == "grounding" else "execute")
    assert again == 4 * (MOST_ROUNDS + 1)


def test_endless_nonsense_ends(solve, sent):
    solution, _, purposes = solve(model=ScriptedModel(*["What?"] * 1000), decoding="off")
    assert (solution.status, solution.limit, sent) == ("failed", f"{MOST_STEPS} steps", [])
    assert purposes == ["ground"] * MOST_STEPS * (MOST_ROUNDS + 1)


def test_budgets_end_the_run(solve, sent):
    solution, _, _ = solve(*FIND, *LIST, max_tokens=800)
    assert (solution.status, solution.limit, len(sent)) == ("failed", "max_tokens = 800", 1)
    solution, _, _ = solve(*FIND, *LIST, max_calls=1)
    assert (solution.status, solution.limit, len(sent)) == ("failed", "max_calls = 1", 2)


@pytest.mark.parametrize("turn", range(5))
def test_an_outage_is_no_verdict(solve, turn):
    with pytest.raises(ModelUnavailable):
        solve(*FIND[:turn], ModelUnavailable("the endpoint is down"))


def test_a_write_nobody_allowed_pauses_the_run(solve, sandbox, toolbox, sent, tmp_path):
    replies = (instruct("Mark Lang.", "add_mark"), ACCEPT, call("add_mark", person="p1"), ACCEPT)
    with Store(tmp_path / "runs.sqlite") as store:
        paused, model, purposes = solve(*FIND, *replies, store=store)
        assert (paused.status, paused.answer, len(sent)) == ("paused", None, 1)
        assert purposes == [*STEP, *STEP[:4]]
        model = ScriptedModel("The mark is m2.", call("finish", answer="m2"))
        config = Config(strategy="conagents", allow_writes=("add_mark",))
        solution = Agent(toolbox, model=model, sandbox=sandbox, config=config, store=store).resume(paused.run)
    assert (solution.status, solution.answer) == ("solved", "m2")
    assert [name for name, _ in sent] == ["find_person", "add_mark"]
    assert [agent_of(prompt) for prompt in model.prompts] == ["observe", "ground"]


@pytest.mark.parametrize("turn", range(11))
def test_an_interrupted_run_goes_on_without_repeating_anything(solve, sandbox, toolbox, sent, tmp_path, turn):
    replies = (*FIND, *LIST, call("finish", answer="M"))
    with Store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(ModelUnavailable):
            solve(*replies[:turn], ModelUnavailable("the endpoint is down"), store=store)
        model = ScriptedModel(*replies[turn:])
        config = Config(strategy="conagents")
        solution = Agent(toolbox, model=model, sandbox=sandbox, config=config, store=store).resume("last")
    assert (solution.status, solution.answer) == ("solved", "M")
    assert sent == [("find_person", {"name": "Lang"}), ("list_films", {"person": "p1"})]
    assert len(model.prompts) == len(replies) - turn


LONG = (LIST[0], ACCEPT, call("list_films", person="p1", pages=9000), ACCEPT)
CODE = "```python\nprint('The first is', data[0]['title'])\n```"


def test_a_long_response_is_observed_by_code_over_its_structure(solve, sent):
    solution, model, purposes = solve(*LONG, CODE, call("finish", answer="Metropolis"))
    assert (solution.answer, len(sent), purposes) == ("Metropolis", 1, [*STEP, "ground"])
    assert "[{title: string, pages: string}] × 2" in last(model, 4)
    assert len(last(model, 4)) < 2_000
    assert last(model, 5).startswith("Result: The first is Metropolis\n")


def test_code_that_fails_is_written_again(solve):
    wrong = CODE.replace("title", "name")
    _, model, purposes = solve(*LONG, wrong, CODE, call("finish", answer="Metropolis"))
    assert purposes == [*STEP, "observe", "ground"]
    assert [message.role for message in model.prompts[5]] == ["system", "user", "assistant", "user"]
    assert "The first is Metropolis" in last(model, 6)


def test_where_all_code_fails_a_sample_of_the_response_is_read(solve):
    empty = "```python\npass\n```"
    _, model, purposes = solve(*LONG, "I cannot.", empty, empty, "It is M.", call("finish", answer="M"))
    assert purposes == [*STEP, *["observe"] * 3, "ground"]
    assert "shortened; the whole is" in last(model, 7)
    assert len(last(model, 7)) < 6_000
    assert last(model, 8).startswith("Result: It is M.")


def test_code_can_call_no_tool(solve, sent):
    marks = "```python\nprint(add_mark(person='p1'))\n```"
    solve(*LONG, marks, CODE, call("finish", answer="M"), allow_writes=("all",))
    assert [name for name, _ in sent] == ["list_films"]


def test_an_observing_agent_that_says_nothing_leaves_the_response(solve):
    _, model, _ = solve(*FIND[:4], " ", call("finish", answer="p1"))
    assert "'id': 'p1'" in last(model, 5)


def test_each_agent_is_held_to_what_it_may_reply(solve):
    model = ScriptedModel(*FIND, call("finish", answer="p1"), powers=Powers(schema=True))
    solution, _, _ = solve(model=model, decoding="calls")
    shown = [json.dumps(options["schema"]) for options in model.options]
    assert solution.answer == "p1"
    assert "list_films" in shown[0]
    assert "accept" in shown[1]
    assert "add_mark" not in shown[2]
    assert "grounding" in shown[3]
    assert shown[4] == "null"


def test_a_long_run_fits_the_prompt(solve):
    said = "The id of Lang, the director of Metropolis and M, is p1. " * 12
    steps = [reply for _ in range(12) for reply in (*FIND[:4], said)]
    solution, model, _ = solve(*steps, call("finish", answer="p1"))
    assert solution.answer == "p1"
    assert all(sum(len(m.content) for m in prompt) < 3.6 * 8_192 for prompt in model.prompts)
    assert "characters more" in model.prompts[-1][5].content
    assert last(model, -1).count("The id of Lang") == 12


def test_tools_may_be_named_as_the_agents_words_are(sandbox, sent):
    def named(name):
        schema = {"type": "object", "properties": {"answer": TEXT}, "required": ["answer"]}
        protocol = ToolProtocol(
            name=name, description=".", input_schema=schema, annotations=Annotations(read_only=True)
        )
        return Tool(protocol, lambda arguments: sent.append(name) or {"said": arguments["answer"]})

    toolbox = Toolbox(map(named, ("finish", "instruct", "accept")))
    replies = (instruct("Say it.", "finish"), ACCEPT, call("finish", answer="one"), ACCEPT, "one")
    model = ScriptedModel(*replies, call("finish", answer="two"))
    solution = Agent(toolbox, model=model, sandbox=sandbox, config=Config(strategy="conagents")).run(TASK)
    assert (solution.status, solution.answer, sent) == ("solved", "two", ["finish"])


def test_a_schema_too_much_for_a_grammar_is_written_freely_and_noted(sandbox, sent):
    schema = {"type": "object", "properties": {"name": {**TEXT, "minLength": 1_000_000}}, "required": ["name"]}
    protocol = ToolProtocol(name="store", description=".", input_schema=schema, annotations=Annotations(read_only=True))
    toolbox = Toolbox([Tool(protocol, lambda arguments: sent.append(len(arguments["name"])) or {"stored": True})])
    model = ScriptedModel(
        instruct("Store it.", "store"), ACCEPT, call("store", name="x"), call("store", name="x" * 1_000_000), ACCEPT,
        "Stored.", call("finish", answer="yes"), powers=Powers(grammars=frozenset({"lark"})),
    )  # fmt: skip
    solution = Agent(toolbox, model=model, sandbox=sandbox, config=Config(strategy="conagents")).run(TASK)
    assert (solution.answer, sent) == ("yes", [1_000_000])
    assert any("written freely" in note for note in solution.notes)


def test_words_that_an_agent_was_not_asked_for_are_told(solve):
    more = call("instruct", instruction="Find Lang.", tool="find_person", wanted="the id", thought="Hm.")
    solution, model, purposes = solve(more, *FIND, call("finish", answer="p1"), decoding="off")
    assert (solution.answer, purposes) == ("p1", ["ground", *STEP, "ground"])
    assert "thought" in last(model, 1)


def test_a_run_goes_on_behind_code_that_read_a_response(solve, sandbox, toolbox, sent, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        with pytest.raises(ModelUnavailable):
            solve(*LONG, CODE, ModelUnavailable("the endpoint is down"), store=store)
        model = ScriptedModel(call("finish", answer="Metropolis"))
        config = Config(strategy="conagents")
        solution = Agent(toolbox, model=model, sandbox=sandbox, config=config, store=store).resume("last")
    assert (solution.status, solution.answer, len(sent)) == ("solved", "Metropolis", 1)
    assert last(model, 0).startswith("Result: The first is Metropolis\n")
