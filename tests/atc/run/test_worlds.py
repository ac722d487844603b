"""Runs over sessions and factories: each program begins where it believes to be, and nothing is left behind."""

import ast

import pytest

from atc import Agent, Config, load_tools
from atc.store import Store
from atc.store.stored import RunRefused
from tests.labs.tools import writing

pytestmark = pytest.mark.usefixtures("shared_sandbox")

PAGES = {"/": "start", "/about": "nothing", "/team": "Ann"}


class Browsers:
    """A factory of browsers, each on its first page; `clicked` are the clicks of each."""

    def __init__(self):
        self.clicked = []

    def __call__(self):
        self.clicked.append([])
        mine = self.clicked[-1]

        def click(link: str) -> str:
            """Follow a link of the first page."""
            mine.append(link)
            return PAGES[link] if len(mine) == 1 else "[no such link here]"

        def view() -> str:
            """The page.

            read_only = True
            """
            return PAGES[mine[-1] if mine else "/"]

        return [click, view]


@pytest.fixture
def run(sandbox):
    def solve(tools, *programs, **how):
        config = Config(strategy="chain", samples=1, max_repairs=2)
        with Agent(tools, model=writing(*programs), sandbox=sandbox, config=config, **how) as agent:
            return agent.run("Find Ann.")

    return solve


FAILS = "page = click(link='/about')\nif 'Ann' not in page:\n    raise ValueError('she is not on this page')\nprint(page)"


def test_another_way_begins_in_a_fresh_world(run):
    browsers = Browsers()
    solution = run(
        load_tools(browsers, session=["click"]), FAILS, "print(click(link='/team'), view())"
    )
    assert (solution.status, solution.answer, solution.notes) == ("solved", "Ann Ann", ())
    assert browsers.clicked[1:] == [["/about"], ["/team"]]


def test_a_repeated_call_is_answered_once(run):
    browsers = Browsers()
    solution = run(
        load_tools(browsers, session=["click"]), FAILS, "print(click(link='/about'), view())"
    )
    assert solution.answer == "nothing nothing"
    assert browsers.clicked[1:] == [["/about"]]


def test_writes_of_a_replaced_world_are_gone(run):
    browsers = Browsers()
    solution = run(browsers, FAILS, "print(click(link='/team'))", allow_writes="all")
    assert (solution.status, solution.answer, solution.orphans) == ("solved", "Ann", ())


def test_writes_of_a_factory_still_ask(run):
    browsers = Browsers()
    assert run(browsers, FAILS).status == "paused"
    assert browsers.clicked[1:] in ([], [[]])


def test_each_run_has_its_own_world(sandbox):
    browsers = Browsers()
    model = writing(*["print(click(link='/team'))"] * 2)
    tools = load_tools(factory=browsers, session=True)
    with Agent(tools, model=model, sandbox=sandbox, config=Config(strategy="chain")) as agent:
        answers = [agent.run("Find Ann.").answer for _ in range(2)]
    assert answers == ["Ann", "Ann"]


def test_a_session_without_factory_says_so(run):
    browser = load_tools(*Browsers()(), session=["click"])
    solution = run(browser, FAILS, "print(click(link='/team'))")
    assert (solution.status, solution.orphans) == ("solved", ())
    assert "went on from where it was" in solution.notes[0]


def test_calls_side_by_side_keep_their_order(run):
    made = []

    def counter():
        made.append([])
        mine = made[-1]

        def step(name: str) -> str:
            """Go a step."""
            mine.append(name)
            return f"{name}{len(mine)}"

        return [step]

    program = "import asyncio\nasync def go():\n    return await asyncio.gather(*(asyncio.to_thread(step, name=n) for n in 'abcdefgh'))\nfound = asyncio.run(go())\n{}\nprint(found)"
    tools = load_tools(factory=counter, session=True)
    solution = run(
        tools,
        program.format("raise ValueError('once more, please')"),
        program.format("found.append(step(name='end'))"),
    )
    assert solution.status == "solved"
    answered = [f"{name}{at}" for at, name in enumerate(made[-1], 1)]
    assert sorted(ast.literal_eval(solution.answer)) == sorted(answered)
    assert made[-1][-1] == "end"


def test_a_later_run_says_where_it_begins(sandbox):
    tools = load_tools(*Browsers()(), session=["click"])
    model = writing("print(click(link='/about'))", "print(click(link='/team'))")
    config = Config(strategy="chain", samples=1)
    with Agent(tools, model=model, sandbox=sandbox, config=config) as agent:
        first, second = agent.run("Look."), agent.run("Look.")
    assert first.notes == ()
    assert "went on from where it was" in second.notes[0]


def test_a_resumed_run_needs_the_factory(sandbox, tmp_path):
    browsers = Browsers()
    program = "print(click(link='/team'), order(name=view()))"
    ordered = []

    def order(name: str) -> str:
        """Order something."""
        ordered.append(name)
        return "ordered"

    def agent(store, factory):
        tools = load_tools(order, factory=browsers, session=["click"])
        if not factory:
            tools = load_tools(order, *browsers(), session=["click"])
        config = Config(strategy="chain", samples=1, allow_writes=("order",) if ordered else ())
        return Agent(tools, model=writing(program), sandbox=sandbox, config=config, store=store)

    with Store(tmp_path / "runs.sqlite") as store:
        paused = agent(store, factory=True).run("Order for Ann.")
        assert (paused.status, ordered) == ("paused", [])
        ordered.append("allowed")
        with pytest.raises(RunRefused, match="no factory"):
            agent(store, factory=False).resume(paused.run_id)
        done = agent(store, factory=True).resume(paused.run_id)
    assert (done.status, done.answer, ordered) == ("solved", "Ann ordered", ["allowed", "Ann"])
