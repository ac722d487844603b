"""What a resumed run is given back of the model: every reply once, in its order, with what it took."""

from __future__ import annotations

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from atc.run.model_budget import BudgetedModel
from atc.run.resume import ResumedRun
from atc.store import Store
from atc.store.stored import Exchange
from protocols.errors import ToolError
from protocols.model import Completion, Message
from protocols.toolbox import Toolbox
from tests.labs.strategy_player import Player
from tests.labs.tools import fenced, tool

CAUTIOUS = """
try:
    note = f"for {get_price()['price']}"
except ToolError:
    note = "at any price"
order(note=note)
print(mark(done="x"))
"""


def asked(text: str) -> list[Message]:
    return [Message("user", text)]


def exchange(text: str, reply: str | None, **counts) -> Exchange:
    completion = None if reply is None else Completion(text=reply, model="m", **counts)
    return Exchange(purpose="act", messages=tuple(asked(text)), reply=completion)


def one_by_one(found: ResumedRun, texts: str) -> list[str | None]:
    """What is given back to prompts that are asked one after the other."""
    return [reply and reply.text for reply in map(found.reply, map(asked, texts))]


def past(store: Store, *exchanges: Exchange) -> ResumedRun:
    stored = store.load(store.create("a task"))
    return ResumedRun(
        type(stored)(
            **{**{n: getattr(stored, n) for n in stored.__slots__}, "exchanges": exchanges}
        )
    )


def test_another_prompt_invalidates_later_replies(store) -> None:
    found = past(store, exchange("a", "1"), exchange("b", "2"), exchange("c", "3"))
    assert one_by_one(found, "axbc") == ["1", None, None, None]


@pytest.mark.parametrize("cut", [False, True])
def test_whether_a_reply_was_cut_is_known_again(store, cut) -> None:
    """Who writes a call asks for a reply that was cut again, with more room, as in the first life."""
    meter = BudgetedModel(
        Player(), lambda event: None, Config(), past=past(store, exchange("a", "…", truncated=cut))
    )
    reply = meter.complete(asked("a"), purpose="act", temperature=0.0, seed=0, max_tokens=64)
    assert (reply.text, reply.truncated) == ("…", cut)


def test_requests_after_an_outage_are_asked_again(store) -> None:
    found = past(store, exchange("a", "1"), exchange("b", None), exchange("c", "3"))
    assert one_by_one(found, "abc") == ["1", None, None]
    assert one_by_one(found, "d") == [None]


@pytest.mark.parametrize(
    "problem",
    [
        ToolError(401, "expired", remedy="Renew the key."),
        ToolError(None, "down", outcome="not_run"),
        ToolError(503, "busy"),
    ],
    ids=["no credential", "not sent", "passing"],
)
def test_caught_failures_fail_again_when_resumed(sandbox, store, sent, problem):
    """The write that was sent because of the failure must not be sent again with another value."""
    left = [problem]

    def get_price(_):
        if left:
            raise left.pop()
        return {"price": 5}

    tools = Toolbox(
        [
            tool("get_price", get_price, sent=sent),
            tool("order", {"ok": True}, {"note": "string"}, reads=False, sent=sent),
            tool("mark", {"ok": True}, {"done": "string"}, reads=False, sent=sent),
        ]
    )

    def agent(*allowed):
        config = Config(samples=1, strategy="chain", allow_writes=allowed)
        model = ScriptedModel(fenced(CAUTIOUS))
        return Agent(tools, model=model, sandbox=sandbox, config=config, store=store)

    paused = agent("order").run("Order a book, then mark it.")
    assert paused.status == "paused"
    assert agent("order", "mark").resume(paused.run_id).status == "solved"
    assert sent == [
        ("get_price", {}),
        ("order", {"note": "at any price"}),
        ("mark", {"done": "x"}),
    ]
