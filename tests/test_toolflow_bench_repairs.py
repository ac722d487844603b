"""The arms of `atc bench run repair`, over a small world with a log of its own and replies that are scripted."""

import json
from contextlib import contextmanager
from dataclasses import replace

import pytest
from click.testing import CliRunner

import atc.cli.bench_repair
import toolflow_bench.repairs.faulty as faulty
from atc.config import Config
from atc.models.scripted import ScriptedModel
from protocols.errors import ModelUnavailable
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import Failure, ToolCall, Trace
from sandbox.zygote import ZygoteSandbox
from toolflow_bench.mutants import MUTANT_KINDS, NoObservation
from toolflow_bench.repairs import counts
from toolflow_bench.repairs.arms import ARMS, Bench
from toolflow_bench.repairs.faulty import faulty_programs
from toolflow_bench.repairs.log import Sent, counted
from toolflow_bench.repairs.suite import ArmFile, run_arms
from toolflow_bench.repairs.text import lines
from toolflow_bench.rows import Header, InvalidRunFile
from toolflow_bench.runner import Item
from toolflow_bench.services.log import RequestRecord
from toolflow_bench.task import Question

BOOKS = {"b1": {"title": "Emma", "pages": 400}, "b2": {"title": "Ulysses", "pages": 700}}


class Shelf:
    """Three tools, and the log that a service would keep of them."""

    def __init__(self):
        self.log, self.notes = [], []
        text = {"type": "string"}
        self.toolbox = Toolbox(
            [
                self._tool("list_books", self._list, {"most": {"type": "integer", "default": 9}}),
                self._tool("get_book", lambda a: BOOKS[a["id"]], {"id": text}),
                self._tool("add_note", self._note, {"book": text}, reads=False),
            ]
        )

    @property
    def requests(self):
        return tuple(self.log)

    def reset(self):
        self.log.clear()
        self.notes.clear()

    def snapshot(self):
        return {"shelf": {"notes": [dict(note) for note in self.notes]}} if self.notes else {}

    def _list(self, arguments):
        return {"books": list(BOOKS)[: arguments.get("most", 9)], "total": len(BOOKS)}

    def _note(self, arguments):
        self.notes.append(arguments)
        return {"note_id": f"n{len(self.notes)}", "book": arguments["book"]}

    def _tool(self, name, call, parameters, *, reads=True):
        defaults = {key: schema["default"] for key, schema in parameters.items() if "default" in schema}

        def logged(arguments):
            result = call(arguments)
            full = {**defaults, **arguments}
            self.log.append(RequestRecord("GET", "/", "", 200, operation=name, arguments=full, wrote=not reads))
            return result

        required = [key for key in parameters if key not in defaults]
        schema = {"type": "object", "properties": parameters, "required": required}
        protocol = ToolProtocol(name=name, input_schema=schema, annotations=Annotations(read_only=reads))
        return Tool(protocol=protocol, call=logged)


WRONG = "ids = list_books()['books']\nprint(get_book(id=ids[0])['length'])\n"
RIGHT = "ids = list_books(most=9)['books']\nprint(get_book(id=ids[0])['pages'])\n"
NOTED = "note = add_note(book='b1')\nprint(get_book(id='b1')['{}'])\n"
QUESTION = Question(id="q1", question="How long is Emma?", answer=400, type="number")
ITEM = Item(question=QUESTION)


def fenced(source):
    return f"```python\n{source}```"


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as running:
        yield running


@pytest.fixture
def bench(sandbox):
    def make(*replies, programs=None):
        model = ScriptedModel(*replies)
        bench = Bench(Shelf(), ask=model, sandbox=sandbox, config=Config(samples=4), programs=programs)
        bench.model = model
        return bench

    return make


def answer(bench, arm, item=ITEM):
    return bench.answer(ARMS[arm], item, seed=0, max_seconds=60).solution


def test_arms_share_the_first_reply_which_is_asked_once(bench):
    made = bench(fenced(WRONG), fenced(RIGHT), "get_book", fenced(RIGHT), fenced(RIGHT))
    solutions = [answer(made, arm) for arm in ("none", "traceback", "reflection", "facts")]
    assert [solution.answer for solution in solutions] == [None, "400", "400", "400"]
    assert len({solution.attempts[0].program.source for solution in solutions}) == 1
    assert [solution.usage.model_calls for solution in solutions] == [1, 2, 3, 2]
    assert len(made.model.prompts) == 5
    first, *repairs = made.model.prompts
    assert all(prompt[: len(first)] == first for prompt in repairs)
    assert "KeyError: 'length'" in repairs[0][-1].content
    assert "keys" not in repairs[0][-1].content
    assert "Which function" in repairs[1][-1].content
    assert "its keys are title, pages" in repairs[3][-1].content


def test_a_given_first_program_is_nobodys_reply(bench):
    made = bench(fenced(RIGHT), programs={"q1": WRONG})
    solution = answer(made, "traceback")
    assert (solution.answer, solution.repairs, len(made.model.prompts)) == ("400", 1, 1)
    assert solution.attempts[0].program.source == WRONG


def test_a_plain_agent_repeats_its_calls_and_atc_does_not(bench):
    made = bench(fenced(RIGHT), fenced(RIGHT), programs={"q1": WRONG})
    answer(made, "traceback")
    assert made.sent == Sent(sent=4, repeated=2)
    answer(made, "facts")
    assert made.sent == Sent(sent=2)


def test_a_plain_agent_writes_twice_and_atc_does_not(bench):
    made = bench(*[fenced(NOTED.format("pages"))] * 3, programs={"q1": NOTED.format("length")})
    for arm in ("traceback", "atc-traceback", "facts"):
        state = made.answer(ARMS[arm], ITEM, seed=0, max_seconds=60).state
        plain = ARMS[arm].plain
        assert len(state["shelf"]["notes"]) == (2 if plain else 1)
        assert made.sent == Sent(sent=4 if plain else 2, repeated=2 * plain, repeated_writes=int(plain))
    own = made.model.prompts[1][-1].content
    assert "KeyError: 'length'" in own
    assert "its keys" not in own


def test_atc_repairs_by_reflection_too(bench):
    made = bench("get_book, I think", fenced(RIGHT), programs={"q1": WRONG})
    solution = answer(made, "atc-reflection")
    assert (solution.answer, solution.usage.model_calls, made.sent) == ("400", 3, Sent(sent=2))
    assert "The error comes from get_book." in made.model.prompts[1][-1].content


def test_repairs_end_after_three(bench):
    made = bench(*[fenced(f"{WRONG.rstrip()}  # {n}") for n in range(9)], programs={"q1": WRONG})
    for arm in ("traceback", "facts"):
        solution = answer(made, arm)
        assert (solution.status, solution.repairs, len(solution.attempts)) == ("failed", 3, 4)


def test_a_reply_without_a_program_counts_as_an_attempt(bench):
    made = bench("I cannot.", fenced(RIGHT), programs={"q1": WRONG})
    solution = answer(made, "traceback")
    assert (solution.answer, solution.repairs) == ("400", 2)
    assert "no Python program" in made.model.prompts[1][-1].content


READ = ToolProtocol(
    name="read-it",
    input_schema={
        "type": "object",
        "properties": {"from": {"type": "string"}, "n": {"type": "number", "default": 1}, "x": {"type": "string"}},
    },
)
TOOLS = Toolbox([Tool(protocol=READ, call=print)])


def call(index=0, *, reused=False, outcome="done", **arguments):
    return ToolCall(index=index, tool="read_it", arguments=arguments, line=1, reused=reused, outcome=outcome)


def request(*, status=200, wrote=False, operation="read-it", **arguments):
    return RequestRecord("GET", "/", "", status, operation=operation, arguments=arguments, wrote=wrote)


A = {"from": "a", "n": 1.0}


@pytest.mark.parametrize(
    ("requests", "executions", "expected"),
    [
        ([], [], Sent()),
        ([request(**A)], [[call(from_="a")]], Sent(sent=1)),
        ([request(**A)] * 2, [[call(from_="a"), call(from_="a", n=1)]], Sent(sent=2)),  # one program needs both
        ([request(**A)] * 2, [[call(from_="a")], [call(from_="a", x=None)]], Sent(sent=2, repeated=1)),
        ([request(**A)], [[call(from_="a")], [call(from_="a", reused=True)]], Sent(sent=1)),
        ([request(**A)] * 2, [[call(from_="a")], [call(from_="a", reused=True), call(from_="a")]], Sent(sent=2)),
        ([request(wrote=True, **A)] * 2, [[call(from_="a")]], Sent(sent=2, repeated=1, repeated_writes=1)),
        ([request(**A)] * 3, [[call(from_="a")]], Sent(sent=3, own_reads=2)),
        (
            [request(status=404, **A), request(**A)],
            [[call(from_="a", outcome="refused")], [call(from_="a")]],
            Sent(sent=1),
        ),
        ([request(operation="", status=200)], [], Sent()),
        ([request(status=None, **A)], [[call(from_="a", outcome="unknown")]], Sent()),
    ],
)
def test_calls_are_counted_by_the_log(requests, executions, expected):
    assert counted(requests, executions, TOOLS) == expected


ITEMS = [Item(question=replace(QUESTION, id=f"q{number}")) for number in (1, 2)]
HEADER = Header(suite="repair", model="scripted", seed=0, data="", version="0", settings={})


def files(folder, *arms):
    return [ArmFile(arm=ARMS[arm], header=HEADER, path=folder / f"{arm}.jsonl") for arm in arms]


def test_arms_of_a_task_follow_one_another_and_are_compared(bench, tmp_path):
    programs = {"q1": WRONG, "q2": WRONG}
    made = bench(fenced("print(1)\n"), fenced(RIGHT), fenced(RIGHT), fenced(RIGHT), programs=programs)
    seen = []
    report = run_arms(
        ITEMS,
        made,
        files(tmp_path, "traceback", "facts"),
        kinds={"q1": "wrong_key", "q2": "wrong_id"},
        on_row=lambda arm, row, done, total: seen.append((arm.name, row.id, done, total)),
    )
    # Each task begins with another arm: the first one waits for the model to read.
    assert seen == [("traceback", "q1", 1, 4), ("facts", "q1", 2, 4), ("facts", "q2", 3, 4), ("traceback", "q2", 4, 4)]
    plain, ours = report.arms
    assert [(arm.summary.solved, arm.summary.graded) for arm in report.arms] == [(1, 2), (2, 2)]
    assert (plain.by_kind, ours.by_kind["wrong_id"]) == ({"wrong_id": (1, 1), "wrong_key": (0, 1)}, (1, 1))
    assert (plain.sent.repeated, ours.sent.repeated) == (2, 0)
    difference = report.differences["traceback", "facts"]
    assert (difference.differences["success"].mean, difference.only_b, difference.shared) == (0.5, 1, 2)
    document = json.loads(json.dumps(report.as_json()))
    assert document["arms"]["facts"]["repeated_calls"] == 0
    assert document["arms"]["facts"]["interval"] == [1.0, 1.0]
    assert document["differences"]["facts - traceback"]["differences"]["success"]["low"] == 0.0
    text = "\n".join(lines(report))
    assert "traceback  1 of 2 (50%)" in text
    assert "facts - traceback: success +50% (+0% to +100%) on 2 tasks" in text


def test_what_is_there_is_not_asked_again(bench, tmp_path):
    arms = files(tmp_path, "traceback", "facts")
    programs = {"q1": WRONG, "q2": WRONG}
    first = run_arms(ITEMS[:1], bench(*[fenced(RIGHT)] * 2, programs=programs), arms)
    beside = counts.counts_beside(arms[1].path)
    with beside.open("a") as file:
        file.write('{"id": "q2", "sent": 7')  # killed while it wrote
    made = bench(*[fenced(RIGHT)] * 2, programs=programs)
    again = run_arms(ITEMS, made, arms)
    assert len(made.model.prompts) == 2
    assert [arm.summary.solved for arm in again.arms] == [2, 2]
    assert again.arms[0].rows[0] == first.arms[0].rows[0]
    assert again.arms[1].sent == Sent(sent=4)
    beside.unlink()  # a row whose counts are lost is made again
    made = bench(*[fenced(RIGHT)] * 2, programs=programs)
    assert run_arms(ITEMS, made, arms).arms[1].sent == Sent(sent=4)
    assert len(made.model.prompts) == 2
    made = bench(*[fenced(RIGHT)] * 4, programs=programs)
    run_arms(ITEMS, made, arms, restart=True)
    assert len(made.model.prompts) == 4


def test_an_outage_is_no_verdict_and_is_asked_again(bench, tmp_path):
    arms = files(tmp_path, "traceback")
    report = run_arms(ITEMS[:1], bench(ModelUnavailable("gone"), programs={"q1": WRONG}), arms)
    assert (report.left, report.arms[0].summary.graded) == (1, 0)
    assert "1 outages" in "\n".join(lines(report))
    report = run_arms(ITEMS[:1], bench(fenced(RIGHT), programs={"q1": WRONG}), arms)
    assert (report.left, report.arms[0].summary.solved) == (0, 1)


def test_a_file_of_another_run_is_refused(bench, tmp_path):
    (arm,) = files(tmp_path, "traceback")
    run_arms(ITEMS[:1], bench(fenced(RIGHT), programs={"q1": WRONG}), [arm])
    with pytest.raises(InvalidRunFile, match="seed"):
        run_arms(ITEMS[:1], bench(), [replace(arm, header=replace(HEADER, seed=1))])


class FakeTask:
    def __init__(self, number):
        self.id = f"t{number}"


class FakeMutant:
    def __init__(self, task, kind):
        self.task, self.kind, self.id = task, kind, f"{task.id}/{kind}"


@pytest.fixture
def lab(monkeypatch):
    """Mutants of forty tasks; `wrong_unit` never shows, every tenth task cannot be observed."""
    runs = []

    def observe(task, toolbox, sandbox):
        if task.id.endswith("0"):
            raise NoObservation("no")
        return task

    def run(mutant, world, sandbox):
        runs.append(mutant.id)
        trace = Trace(failure=Failure(kind="exception", type="KeyError", message=""))
        if mutant.kind == "wrong_unit":
            trace = Trace(stdout="wrong")
        if mutant.kind == "off_by_one_page":
            trace = Trace()
        if mutant.kind == "missing_guard" and len(mutant.task.id) == 2:
            trace = Trace(failure=Failure(kind="limit", type="wall_seconds", message=""))
        return type("Run", (), {"trace": trace})

    monkeypatch.setattr(faulty, "observe", observe)
    monkeypatch.setattr(faulty, "mutants", lambda gold, *, seed, kinds: (FakeMutant(gold, kinds[0]),))
    monkeypatch.setattr(faulty, "pick", lambda found, *, seed: found)
    monkeypatch.setattr(faulty, "run_mutant", run)
    return runs


def test_faulty_programs_take_the_kinds_in_turn_and_only_what_shows(lab):
    tasks = [FakeTask(number) for number in range(40)]
    drawn = faulty_programs(tasks, Shelf(), None, count=10)
    kinds = [mutant.kind for mutant in drawn]
    visible = [kind for kind in MUTANT_KINDS if kind != "wrong_unit"]
    assert kinds == visible * 2
    assert len({mutant.task.id for mutant in drawn}) == 10
    assert not any(mutant.task.id.endswith("0") for mutant in drawn)
    assert all(len(mutant.task.id) > 2 for mutant in drawn if mutant.kind == "missing_guard")


def test_faulty_programs_of_fewer_are_the_first_of_more_and_depend_on_the_seed(lab):
    tasks = [FakeTask(number) for number in range(40)]
    few, more, other = (
        [mutant.id for mutant in faulty_programs(tasks, Shelf(), None, count=count, seed=seed)]
        for count, seed in ((6, 0), (12, 0), (6, 1))
    )
    assert more[:6] == few
    assert other != few
    assert len(faulty_programs(tasks, Shelf(), None, count=999)) == 36


@pytest.fixture
def command(sandbox, monkeypatch, tmp_path):
    def run(*arguments, replies=(), programs=None):
        @contextmanager
        def opened(config, tasks, source, count, seed):
            model = ScriptedModel(*replies)
            asked = atc.cli.bench_repair._Asked(
                tuple(ITEMS), programs or {}, dict.fromkeys(programs or {}, "wrong_key")
            )
            yield Bench(Shelf(), ask=model, sandbox=sandbox, config=config, programs=programs), "scripted", asked

        monkeypatch.setattr(atc.cli.bench_repair, "_bench", opened)
        monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))
        return CliRunner().invoke(atc.cli.bench_repair.repair, [*arguments])

    return run


def test_the_command_compares_and_goes_on(command, tmp_path):
    given = {"q1": WRONG, "q2": WRONG}
    out = str(tmp_path / "rows")
    done = command("--arms", "traceback,facts", "--out", out, replies=[fenced(RIGHT)] * 4, programs=given)
    assert done.exit_code == 0, done.output
    assert "facts      2 of 2 (100%)" in done.output
    assert "facts: wrong_key 2/2" in done.output
    again = command("--arms", "traceback,facts", "--out", out, "--json", programs=given)
    assert again.exit_code == 0, again.output
    document = json.loads(again.stdout)
    assert (document["source"], document["tasks"], document["arms"]["facts"]["solved"]) == ("mutants", 2, 2)
    assert document["arms"]["traceback"]["rows"] == str(tmp_path / "rows" / "traceback.jsonl")
    other = command("--arms", "facts", "--seed", "1", "--out", out, programs=given)
    assert isinstance(other.exception, InvalidRunFile)


def test_the_command_begins_from_scratch_with_the_models_own_program(command):
    replies = [fenced(WRONG), fenced(RIGHT), "get_book", fenced(RIGHT), fenced(RIGHT)]
    done = command("--source", "scratch", replies=replies, programs=None)
    assert done.exit_code == 3  # the script ends with the first task: what is left of the second is no verdict
    assert "none        0 of 1" in done.output
    assert "facts       1 of 1" in done.output


def test_an_unknown_arm_is_refused(command):
    wrong = command("--arms", "prayer")
    assert wrong.exit_code == 2
    assert "there is none, traceback" in wrong.output
    assert command("--arms", ",").exit_code == 2
