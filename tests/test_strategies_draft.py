"""What a run would execute first, written within the run's budget."""

from __future__ import annotations

import pytest

from atc.events import Noted
from sandbox.zygote import ZygoteSandbox
from tests.strategies_lab import READS, TASK, Player, Searching, Stage


@pytest.fixture(scope="module")
def stage():
    with ZygoteSandbox() as sandbox:
        yield Stage(sandbox)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_a_draft_whose_budget_is_spent_is_none(stage, most) -> None:
    """Two requests look for tools, the third would write."""
    model, events = Player(READS), []
    agent = stage.agent("chain", model, kind=Searching, prompt_tokens=40, max_model_calls=most)
    tools, program, findings = agent.draft(TASK, observer=events.append)
    assert (len(tools) > 0, program, findings, len(model.prompts)) == (True, None, (), most)
    assert [event.sentence for event in events if isinstance(event, Noted)] == [
        f"max_model_calls = {most}: no more programs were written."
    ]


def test_of_the_programs_that_were_written_the_best_is_given(stage) -> None:
    model = Player(reply="```python\nprint(get_nothing())\n```")
    _, program, findings = stage.agent("chain", model, samples=4, max_model_calls=1).draft(TASK)
    assert (program is not None, [finding.code for finding in findings]) == (True, ["unknown-tool"])
    assert len(model.prompts) == 1
