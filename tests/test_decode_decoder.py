"""Which programs are held to grammars, and what is said where they cannot be."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

pytest.importorskip("llguidance", reason="grammars need the extra 'decode'")

from atc.agent import Agent
from atc.check import check
from atc.config import Config
from atc.decode import decoder as decoding
from atc.decode.decoder import Decoder, constrained
from atc.decode.write import OPENING
from atc.events import ModelReplied, Noted
from atc.meter import Meter
from atc.models.download import SMOLLM2
from atc.models.fetch import cached
from atc.models.local import LocalModel
from atc.models.scripted import ScriptedModel
from atc.store import Store
from atc.synthesize import opening
from protocols.ask import Completion, Message, Powers
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.trusted import TrustedSandbox

ABLE = Powers(schema=True, grammars=frozenset({"lark", "gbnf"}), continues=True)
PERSON = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "stars": {"type": "integer"}},
    "required": ["id", "stars"],
    "additionalProperties": False,
}
TASK = "How many stars has Ada?"
STATEMENTS = ('person = find_person(name="Ada")\n', 'print(person["stars"])\n', "```")
WRONG = '```python\nprint(find_person(name="Ada")["age"])\n```'
RIGHT = '```python\nprint(find_person(name="Ada")["stars"])\n```'


def tool(name: str, parameters: dict, output: dict | None, gives: object) -> Tool:
    schema = {"type": "object", "properties": parameters, "required": list(parameters)}
    protocol = ToolProtocol(
        name=name, input_schema=schema, output_schema=output, annotations=Annotations(read_only=True)
    )
    return Tool(protocol=protocol, call=lambda arguments: gives)


TOOLS = Toolbox([tool("find_person", {"name": {"type": "string"}}, PERSON, {"id": "p1", "stars": 5})])


class Able(ScriptedModel):
    """Scripted replies of a model that can be held to grammars."""

    def __init__(self, *replies) -> None:
        super().__init__(*replies, powers=ABLE)


class Interrupted(BaseException):
    """Ends a run in a process that is not ours to kill."""


def solve(model: ScriptedModel, *, store: Store | None = None, **settings):
    seen: list = []
    config = Config(**{"samples": 2, "max_repairs": 0, **settings})
    with Agent(TOOLS, model=model, sandbox=TrustedSandbox(), config=config, store=store) as agent:
        return agent.run(TASK, observer=seen.append), seen


def notes(events: Sequence[object]) -> list[str]:
    return [event.sentence for event in events if isinstance(event, Noted)]


@pytest.mark.parametrize(
    ("setting", "docs", "fresh", "stopped"),
    [
        ("off", "full", False, False),
        ("calls", "full", False, False),
        ("program", "full", True, True),
        ("auto", "full", False, True),
        ("auto", "names", True, True),
        ("off", "names", False, False),
    ],
)
def test_which_programs_are_held_to_grammars(setting: str, docs: str, fresh: bool, stopped: bool) -> None:
    config = Config(decoding=setting, docs=docs)
    assert (constrained(config, stopped=False), constrained(config, stopped=True)) == (fresh, stopped)


def test_a_program_comes_statement_by_statement() -> None:
    model = Able(*STATEMENTS)
    solution, events = solve(model, decoding="program")
    assert (solution.status, solution.answer, solution.notes) == ("solved", "5", ())
    assert solution.attempts[0].program.source == "".join(STATEMENTS[:2])
    assert [event.statement for event in events if isinstance(event, ModelReplied)] == [0, 1, 2]
    assert [prompt[-1].content for prompt in model.prompts] == [
        OPENING,
        OPENING + STATEMENTS[0],
        OPENING + "".join(STATEMENTS[:2]),
    ]
    assert solution.usage.model_calls == 3


def test_what_no_grammar_of_a_program_holds_is_said_and_refused_by_the_host() -> None:
    tags = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    tools = Toolbox([*TOOLS.values(), tool("label", {"tags": tags}, None, "done")])

    def run(*statements: str):
        config = Config(decoding="program", samples=1, max_repairs=0)
        with Agent(tools, model=Able(*statements, "```"), sandbox=TrustedSandbox(), config=config) as agent:
            return agent.run(TASK)

    twice = run('print(label(tags=["a", "a"]))\n')
    assert any("label/properties/tags: uniqueItems" in note for note in twice.notes)
    assert twice.attempts[0].fault is not None
    assert twice.attempts[0].fault.kind == "bad_arguments"
    once = run('print(label(tags=["a", "b"]))\n')
    assert (once.status, once.answer) == ("solved", "done")
    assert run(*STATEMENTS[:2]).notes == (), "a tool that is not called is not told of"


def test_auto_writes_freely_and_then_what_the_check_cannot_stop() -> None:
    model = Able(WRONG, *STATEMENTS)
    solution, _ = solve(model, decoding="auto")
    assert (solution.answer, len(solution.attempts)) == ("5", 2)
    assert solution.attempts[0].findings
    assert [options["grammar"] is None for options in model.options] == [True, False, False, False]
    assert {options["temperature"] for options in model.options} == {0.0}  # the first of either kind is greedy


def test_auto_asks_nothing_more_where_the_first_program_passes() -> None:
    model = Able(RIGHT)
    assert solve(model)[0].answer == "5"


@pytest.mark.parametrize("setting", ["off", "calls"])
def test_off_asks_for_no_grammar_whatever_the_model_can(setting: str) -> None:
    model = Able(WRONG, RIGHT)
    solution, events = solve(model, decoding=setting)
    assert (solution.answer, notes(events)) == ("5", [])
    assert [options["grammar"] for options in model.options] == [None, None]


@pytest.mark.parametrize(
    ("powers", "said"),
    [
        (Powers(), "takes no grammars in Lark"),
        (Powers(grammars=frozenset({"gbnf"}), continues=True), "takes no grammars in Lark"),
        (Powers(grammars=frozenset({"lark"})), "does not go on from words that it is given"),
    ],
)
def test_a_model_without_the_power_is_sampled_as_ever_and_that_is_said_once(
    powers: Powers, said: str, tmp_path
) -> None:
    model = ScriptedModel(WRONG, RIGHT, powers=powers)
    with Store(tmp_path / "runs.sqlite") as store:
        solution, events = solve(model, decoding="program", store=store)
        assert store.load("last").notes == solution.notes
    assert solution.answer == "5"
    assert notes(events) == list(solution.notes)
    (sentence,) = solution.notes
    assert said in sentence
    assert "written freely, checked, and sampled again" in sentence


def test_without_llguidance_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "find_spec", lambda name: None)
    solution, _ = solve(Able(RIGHT), decoding="program")
    assert solution.answer == "5"
    assert 'pip install "automatic-tool-chain[decode]"' in solution.notes[0]


def test_an_endpoint_that_ignores_grammars_is_found_out_and_not_asked_again() -> None:
    model = Able("Sure!", "Sure!", RIGHT.replace("stars", "age"), RIGHT)
    solution, _ = solve(model, decoding="program")
    assert solution.answer == "5"
    assert [options["grammar"] is None for options in model.options] == [False, False, True, True]
    assert "ignores grammars" in solution.notes[0]
    assert "'Sure!'" in solution.notes[0]


def test_a_schema_that_no_grammar_can_be_made_of_is_named() -> None:
    tools = Toolbox([*TOOLS.values(), tool("pick", {"size": {"type": "integer", "minimum": 3, "maximum": 1}}, None, 1)])
    said: list = []
    meter = Meter(Able(), said.append)
    written = Decoder(Config(decoding="program"), tools, meter, task="t").write(
        [], purpose="write", temperature=0.0, seed=0
    )
    assert written is None
    assert "pick" in notes(said)[0]
    assert "written freely" in notes(said)[0]


@pytest.mark.parametrize("setting", ["off", "calls"])
def test_names_alone_without_grammars_are_advised_against(setting: str) -> None:
    solution, _ = solve(Able(RIGHT), decoding=setting, docs="names")
    assert solution.answer == "5"
    assert "--decoding program, or --docs full" in solution.notes[0]


def test_names_alone_are_all_that_the_prompt_tells_of_tools() -> None:
    model = Able(*STATEMENTS)
    solution, _ = solve(model, docs="names")
    assert (solution.answer, solution.notes) == ("5", ())
    said = json.dumps([message.content for message in model.prompts[0]])
    assert "find_person" in said
    assert "stars" not in said.replace("How many stars", "")
    assert "def " not in said


def test_a_repair_of_names_alone_tells_no_more_of_tools() -> None:
    model = Able(
        'person = find_person(name="Ada")\n',
        'x = person["stars"] / 0\n',
        "print(x)\n",
        "```",
        *STATEMENTS,
    )
    solution, _ = solve(model, docs="names", samples=1, max_repairs=1)
    told = next(prompt[-2].content for prompt in model.prompts if len(prompt) > 5)
    assert "find_person(*" not in told
    assert "From result" not in told
    assert solution.attempts[-1].round in (0, 1)


def test_a_repair_goes_on_under_grammars() -> None:
    failing = ('person = find_person(name="Ada")\n', 'x = person["stars"] / 0\n', "print(x)\n", "```")
    model = Able(*failing, *STATEMENTS)
    solution, _ = solve(model, decoding="program", samples=1, max_repairs=1)
    assert (solution.answer, solution.repairs) == ("5", 1)
    assert all(options["grammar"] for options in model.options)


def test_a_draft_is_written_under_grammars_too() -> None:
    with Agent(TOOLS, model=Able(*STATEMENTS), sandbox=TrustedSandbox(), config=Config(decoding="program")) as agent:
        _, program, findings = agent.draft(TASK)
    assert program is not None
    assert (program.source, findings) == ("".join(STATEMENTS[:2]), ())


def test_pieces_are_written_in_the_scope_of_the_program_so_far() -> None:
    model = Able(
        'person = find_person(name="Ada")\n', "print(person)\n", "```", 'print("ANSWER:", person["stars"])\n', "```"
    )
    solution, _ = solve(model, decoding="program", strategy="stepwise")
    assert (solution.status, solution.answer) == ("solved", "5")
    assert model.prompts[3][-1].content == OPENING


def test_a_run_that_was_interrupted_in_the_midst_of_a_program_goes_on_there(tmp_path) -> None:
    def leave(messages):
        raise Interrupted

    path = tmp_path / "runs.sqlite"
    with Store(path) as store:
        with pytest.raises(Interrupted):
            solve(Able(STATEMENTS[0], leave), decoding="program", store=store)
        second = Able(*STATEMENTS[1:])
        config = Config(decoding="program", samples=2, max_repairs=0)
        with Agent(TOOLS, model=second, sandbox=TrustedSandbox(), config=config, store=store) as agent:
            solution = agent.resume("last")
        exchanges = store.load("last").exchanges
    assert (solution.status, solution.answer, solution.usage.model_calls) == ("solved", "5", 3)
    assert [prompt[-1].content for prompt in second.prompts] == [
        OPENING + STATEMENTS[0],
        OPENING + "".join(STATEMENTS[:2]),
    ]
    told = [exchange for exchange in exchanges if exchange.reply is not None]
    assert [exchange.reply for exchange in told] == list(STATEMENTS)
    assert len({exchange.messages[:-1] for exchange in told}) == 1
    assert told[-1].messages[-1] == Message("assistant", OPENING + "".join(STATEMENTS[:2]))


def test_budgets_count_what_was_read_anew() -> None:
    class Cached(Able):
        def __call__(self, messages, **settings) -> Completion:
            completion = super().__call__(messages, **settings)
            cached = 990 if len(self.prompts) > 1 else 0
            return Completion(text=completion.text, model="m", input_tokens=1000, cached_tokens=cached, output_tokens=5)

    solution, _ = solve(Cached(*STATEMENTS), decoding="program", max_tokens=1100)
    assert (solution.answer, solution.limit) == ("5", None)
    assert (solution.usage.input_tokens, solution.usage.cached_tokens, solution.usage.tokens) == (3000, 1980, 1035)
    solution, _ = solve(Cached(*STATEMENTS), decoding="program", max_tokens=1010)
    assert solution.limit == "max_tokens = 1010"


@pytest.mark.local_model
def test_what_a_small_model_writes_the_check_lets_pass() -> None:
    path = cached(SMOLLM2)
    if path is None:
        pytest.skip("the small model is not fetched; 'atc models pull smollm2' gets it")
    number = {"type": "integer"}
    tools = Toolbox(
        [
            *TOOLS.values(),
            tool("list_books", {"author_id": {"type": "string"}}, {"type": "array", "items": PERSON}, []),
            tool("add", {"first": number, "second": number}, number, 3),
        ]
    )
    model = LocalModel(path)
    try:
        said: list = []
        meter = Meter(model, said.append)
        decoder = Decoder(Config(decoding="program"), tools, meter, task=TASK)
        for seed, temperature in ((0, 0.0), (1, 0.8)):
            messages = opening(TASK, tools, budget=1000)
            program = decoder.write(messages, purpose="write", temperature=temperature, seed=seed)
            assert program is not None, notes(said)
            assert [finding for finding in check(program, tools) if finding.certain] == [], program.source
    finally:
        model.close()
    assert notes(said) == []
