"""From Python: `Agent(tools, allow_writes=…)`, `arun`, typed answers, budgets, notebooks."""

import asyncio
import pickle
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from atc import Agent, Config, Toolbox
from atc.core.config import InvalidConfig
from atc.core.types import Unsolved
from atc.store import Store
from atc.store.stored import RunRefused
from tests.labs.patience import PATIENCE
from tests.labs.tools import tool, writing

pytestmark = pytest.mark.usefixtures("shared_sandbox")


class Ticket(BaseModel):
    id: int
    open: bool


@pytest.fixture
def agent(sandbox):
    def make(*replies, **how):
        tools = Toolbox(
            [tool("get_ticket", {"id": 7, "open": True}), tool("close", {}, reads=False)]
        )
        config = Config(samples=1, strategy="chain", max_repairs=1)
        return Agent(tools, model=writing(*replies), sandbox=sandbox, config=config, **how)

    return make


def test_a_wrongly_typed_answer_is_repaired(agent):
    asked = agent("print(get_ticket()['id'])", "import json\nprint(json.dumps(get_ticket()))")
    solution = asked.run("Which ticket is it?", output_type=Ticket)
    assert (solution.status, solution.output, solution.repairs) == (
        "solved",
        Ticket(id=7, open=True),
        1,
    )
    assert '"open"' in asked.ask.prompts[0][-1].content
    assert "has not the form" in asked.ask.prompts[1][-1].content


@pytest.mark.parametrize(
    ("of", "output"), [(str, "7"), (str | None, "7"), (int, 7), (list[int], [7])]
)
def test_any_type_that_pydantic_reads(agent, of, output):
    found = "[get_ticket()['id']]" if isinstance(output, list) else "get_ticket()['id']"
    assert agent(f"print({found})").run("Say it.", output_type=of).output == output


def test_an_unreadable_type_is_explained_in_a_sentence(agent):
    with pytest.raises(
        TypeError, match=r"output_type=.*Iterator'> cannot be used: Unable to generate"
    ):
        agent().run("Say it.", output_type=Iterator)


def test_check_returns_findings_by_line_without_calls(sandbox, sent):
    tools = Toolbox([tool("get_ticket", {"id": 7}, sent=sent)])
    checking = Agent(tools, model=writing(), sandbox=sandbox)
    found = checking.check(
        "ticket = get_ticket()\nprint(get_tickt(), ticket['id'])\nprint(get_ticket(number=1))"
    )
    assert [(one.line, one.code, one.certain) for one in found] == [
        (2, "unknown-tool", True),
        (3, "unknown-argument", True),
    ]
    assert checking.check("print(get_ticket()['id'])") == ()
    assert sent == []


def test_an_unsolved_run_raises_and_has_no_output(agent):
    solved = agent("print(get_ticket()['id'])").run("Which ticket?")
    assert solved.raise_if_unsolved() is solved
    failed = agent("print(get_ticket()['number'])", "print(get_ticket()['nr'])").run(
        "Which ticket?", output_type=int
    )
    with pytest.raises(
        Unsolved, match=r"^the task was not solved: .*'nr'.*\. The attribute solution.att"
    ) as caught:
        failed.raise_if_unsolved()
    assert caught.value.solution is failed
    assert pickle.loads(pickle.dumps(caught.value)).solution == failed
    with pytest.raises(Unsolved):
        print(failed.output)
    with pytest.raises(
        Unsolved, match="the task is paused: close may change something and was not allowed"
    ):
        agent("print(close())").run("Close it.").raise_if_unsolved()


def test_writes_are_allowed_by_name(agent):
    assert agent("print(close())").run("Close it.").status == "paused"
    assert agent("print(close())", allow_writes=["close"]).run("Close it.").status == "solved"


NOW = "import datetime\nprint(datetime.date.today(), get_ticket()['id'])"


def test_a_run_has_the_date_it_was_given(agent):
    asked = agent(NOW)
    assert asked.run("Which ticket?", now="2023-11-30T09:15").answer == "2023-11-30 7"
    assert "Today is Thursday, 30 November 2023" in asked.ask.prompts[0][-1].content
    asked = agent(NOW)
    asked.draft("Which ticket?", rules="Never close.", now="2023-11-30")
    assert "Never close." in asked.ask.prompts[0][-1].content


def test_a_resumed_run_keeps_rules_and_date(agent, tmp_path):
    writing_today = NOW.replace("print(", "close()\nprint(")
    with Store(tmp_path / "runs.sqlite") as store:
        begun = agent(writing_today, store=store)
        paused = begun.run("Close it.", rules="Close one a day.", now="2023-11-30")
        context = store.load(paused.run_id).summary.context
        assert (paused.status, context.rules) == ("paused", "Close one a day.")
        resumed = agent(store=store, allow_writes=["close"]).resume(paused.run_id)
        assert resumed.answer == "2023-11-30 7"


def test_rules_are_not_the_users_words(sandbox):
    """A code in them raises no doubt, and a recipient in them asks."""
    source = "mail(to='ann@example.org', text='Hello')\nprint(get_ticket()['id'])"
    to = {"type": "string", "x-atc-sensitive": "recipient"}
    mail = tool("mail", {}, {"to": to, "text": "string"}, reads=False)
    tools = Toolbox([tool("get_ticket", {"id": 7}), mail])
    config = Config(samples=1, strategy="chain", max_repairs=1)

    def run(task, rules):
        made = writing(source)
        asked = Agent(tools, model=made, sandbox=sandbox, config=config, allow_writes="mail")
        return asked.run(task, rules=rules)

    rules = "Mail goes to ann@example.org, about airports (IATA) only."
    assert run("Say hello.", rules).status == "paused"
    assert run("Say hello to ann@example.org.", "").status == "solved"
    assert run("Say hello to ann@example.org.", rules).attempts[0].doubts == ()


def test_a_refusal_that_rules_demand_is_undoubted(agent):
    program = "print('Only the owner may close it.')"
    rules = "Only the owner may close a ticket."
    solution = agent(program).run("Close ticket 7.", rules=rules)
    assert (solution.answer, solution.attempts[-1].doubts) == ("Only the owner may close it.", ())
    assert agent(program, program).run("Close ticket 7.").attempts[0].doubts


def test_a_cost_limit_needs_a_price(agent):
    with pytest.raises(InvalidConfig, match="model_price"):
        agent("print(1)", max_cost=0.01).run("Say it.")
    told = agent("print(get_ticket()['nothing'])", "print(1)", max_cost=0.01)
    told.config = replace(told.config, model_price=(1e6, 1e6))  # a dollar a token
    spent = told.run("Say it.")
    assert (spent.status, spent.limit) == ("failed", "max_cost = 0.01")


def test_runs_go_together_and_leave_the_loop_free(agent):
    one = agent(*["print(get_ticket()['id'])"] * 3)

    async def three():
        return await asyncio.gather(*(one.arun("Which ticket?") for _ in range(3)))

    assert [solution.answer for solution in asyncio.run(three())] == ["7"] * 3


def test_a_cancelled_run_is_stored_as_interrupted(agent, tmp_path):
    reached, go_on = threading.Event(), threading.Event()

    def watch(event):
        reached.set()
        go_on.wait(PATIENCE)

    async def cancelled():
        run = asyncio.create_task(one.arun("Which ticket?", observer=watch))
        await asyncio.to_thread(reached.wait, 10)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        go_on.set()

    with Store(tmp_path / "runs.sqlite") as store:
        one = agent("print(get_ticket()['id'])", store=store)
        asyncio.run(cancelled())
        assert [run.status for run in store.list(9)] == ["interrupted"]


def test_a_run_resumes_only_with_its_tools(agent, tmp_path):
    with Store(tmp_path / "runs.sqlite") as store:
        paused = agent("print(close())", store=store).run("Close it.")
        with pytest.raises(RunRefused, match="none of its tools is here"):
            Agent(Toolbox([tool("open", {})]), store=store).resume(paused.run_id)
        assert store.load(paused.run_id).summary.status == "paused"


def test_a_notebook_shows_a_run_as_it_happens(agent, monkeypatch):
    shown = []
    handle = SimpleNamespace(update=shown.append)
    display = SimpleNamespace(display=lambda what, display_id: shown.append(what) or handle)
    monkeypatch.setitem(
        sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1))
    )
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    agent("print(get_ticket()['id'])").run("Which ticket?")
    live, ended = shown[-2]._repr_html_(), shown[-1]._repr_html_()
    assert "<details open>" in live, "the lines of the run"
    assert "get_ticket()" in live
    assert "<details>" in ended, "folded: the solution shows the rest"
    assert "\x1b" not in live + ended


def test_a_solution_is_one_block_in_notebooks(agent):
    token = "sk-live-1234567890abcdef"
    solution = agent(f"token = '{token}'\nprint(get_ticket()['id'])").run("Which ticket?")
    html = solution._repr_html_()
    assert "solved" in html
    assert ">7</pre>" in html
    assert "get_ticket() → {id: integer, open: boolean}" in html
    assert token not in html
    wrong = "print(get_ticket()['<img src=x>'])"
    failed = agent(wrong, f"{wrong} ").run("Which?")._repr_html_()
    assert "failed" in failed
    assert "&lt;img src=x&gt;" in failed
    assert "<img" not in failed
    assert pickle.loads(pickle.dumps(solution))._repr_html_() == html
