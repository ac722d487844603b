"""What a resumed run is given back of the model: every reply once, in its order, with what it took."""

from __future__ import annotations

import pytest

from atc.core.config import Config
from atc.run.model_budget import BudgetedModel
from atc.run.resume import ResumedRun
from atc.store import Store
from atc.store.stored import Exchange
from protocols.model import Completion, Message
from tests.labs.strategy_player import Player


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
