"""Strategies by name, and how their flags are spelled."""

from __future__ import annotations

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from atc.strategies import UnknownStrategy, strategy
from protocols.toolbox import Toolbox
from tests.labs.acting import finish, turn
from tests.labs.tools import record, tool


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            "reakt",
            "no strategy is named 'reakt'; did you mean 'react'? There is auto, chain, stepwise, react, react@3,",
        ),
        (
            "chain:pool=3",
            "the strategy 'chain' has no flag 'pool'; its flags: docs, repair, samples, max_repairs.",
        ),
        (
            "chain:repair=much",
            "the strategy 'chain': repair must be 'facts', 'reflection', 'traceback' or 'none'",
        ),
        ("anytool:pool=0", "the strategy 'anytool:pool=0': pool must be at least 1, not 0."),
    ],
)
def test_a_wrong_spec_is_one_sentence(spec: str, said: str) -> None:
    with pytest.raises(UnknownStrategy) as caught:
        strategy(spec)
    assert str(caught.value).startswith(said)


def test_a_flag_changes_how_the_run_works(sandbox) -> None:
    answer = {"people": ["p0"]}
    tools = Toolbox([tool("list_people", answer, output=record(people="array"))])
    shown = {}
    for docs in ("full", "requests", "names"):
        model = ScriptedModel(turn("list_people"), finish("p0"))
        config = Config(strategy=f"react:docs={docs},decoding=off")
        agent = Agent(tools, model=model, sandbox=sandbox, config=config)
        assert agent.run("Who?").answer == "p0"
        shown[docs] = model.prompts[0][-1].content
    assert "-> list" in shown["full"]
    assert "def list_people() -> Any" in shown["requests"]
    assert "def " not in shown["names"]
