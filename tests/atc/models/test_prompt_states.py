"""States of long prompts on disk: which one spares most reading, and how many are kept."""

from pathlib import Path

import pytest

from atc.models.local import PromptStates

LONG = "rules and stubs " * 400


@pytest.fixture
def states(tmp_path: Path) -> PromptStates:
    return PromptStates(tmp_path, kind="model 1")


def keep(states: PromptStates, prompt: str) -> str:
    name = states.file_for(prompt)
    (states.folder / name).write_bytes(b"state")
    states.note_saved(name, prompt)
    return name


def test_the_state_that_shares_most_is_found(states: PromptStates) -> None:
    near = keep(states, LONG + "Task: one")
    keep(states, LONG[:5000] + "another toolbox")
    assert states.find_nearest(LONG + "Task: two") == near
    assert states.find_nearest(LONG + "x", held=LONG[:-100]) is None  # it would spare little
    assert states.find_nearest("short") is None


def test_only_the_latest_used_are_kept(states: PromptStates) -> None:
    for number in range(5):
        keep(states, f"{number}{LONG}")
    assert len(list(states.folder.glob("*.state"))) == 3
    assert len(list(states.folder.glob("*.json"))) == 3
