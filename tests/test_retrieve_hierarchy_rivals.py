"""The two rivals of AnyTool: the plain agent over groups, and retrieval over segments."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from atc.retrieve.document import ToolDocument
from atc.retrieve.hierarchy import Options, PlainAgent, SegmentRetriever
from atc.retrieve.hierarchy.budget import prompt_tokens, tokens_of
from protocols.errors import ModelUnavailable
from tests.hierarchy_lab import CHECK, FINISH, Cast, Line, box, call, verdict

np = pytest.importorskip("numpy")

PLAIN = "shown a part of a catalogue"
SEGMENTS = "parts of a catalogue"
BOX = box(**{f"c{i}": {f"t{i}": 40} for i in range(30)})
"""1,200 APIs."""


def plain(
    script: Sequence[Line], verdicts: Sequence[Line] = ("{}",), *, room: int = 100_000
) -> tuple[PlainAgent, Cast]:
    cast = Cast({CHECK: verdicts, PLAIN: script})
    return PlainAgent(BOX, cast, options=Options(prompt_tokens=room)), cast


def groups(cast: Cast) -> list[int]:
    """APIs shown in each prompt to the plain agent that opens a group."""
    shown = [messages for who, messages in cast.prompts if who == PLAIN and len(messages) == 2]
    return [messages[1].content.count("\n- ") for messages in shown]


def test_the_plain_agent_reads_groups_of_500_one_after_another() -> None:
    agent, cast = plain([FINISH])
    found = agent.search("Rain?", k=5)
    assert groups(cast) == [500, 500, 200]
    assert found.hits == ()
    assert found.usage.model_calls == 3
    assert "get_API" not in json.dumps(cast.schemas)


@pytest.mark.parametrize(("shows", "group"), [("descriptions", 100), ("details", 50)])
def test_groups_are_smaller_where_more_is_shown(shows: str, group: int) -> None:
    cast = Cast({PLAIN: [FINISH]})
    PlainAgent(BOX, cast, shows=shows, options=Options(prompt_tokens=100_000)).search("Rain?", k=5)  # type: ignore[arg-type]
    assert groups(cast) == [group] * (1200 // group)
    assert "what t0/1 does" in cast.prompts[0][1][1].content


def test_groups_are_cut_where_they_do_not_fit_the_prompt() -> None:
    agent, cast = plain([FINISH], room=1500)
    agent.search("Rain?", k=5)
    assert sum(groups(cast)) == 1200
    assert max(groups(cast)) < 500
    assert max(prompt_tokens(messages) for _, messages in cast.prompts) <= 1500


def test_the_plain_agent_ends_where_the_pool_suffices() -> None:
    add = call("add_API_into_API_pool", apis=["t0/3", "t99/0"])
    more = call("add_API_into_API_pool", apis=["t14/1"])
    agent, cast = plain([add, FINISH, more], [verdict("Unsolvable", "no sun"), verdict("Solvable")])
    found = agent.search("Rain?", k=5)
    assert [hit.tool for hit in found.hits] == ["t0/3", "t14/1"]
    assert groups(cast) == [500, 500]
    assert "not among the apis here: 't99/0'" in found.transcript[1]


def test_what_is_shown_is_one_of_three() -> None:
    with pytest.raises(ValueError, match="shows names, descriptions, details, not 'all'"):
        PlainAgent(BOX, Cast({}), shows="all")  # type: ignore[arg-type]


def test_an_outage_of_the_plain_agent_passes() -> None:
    agent, _ = plain([FINISH, ModelUnavailable("away")])
    with pytest.raises(ModelUnavailable):
        agent.search("Rain?", k=5)


class Words:
    """Embeds a text by which of some words stand in it."""

    name = "words"
    vocabulary = ("storm", "goal", "bread")
    dimensions = 3

    def __init__(self) -> None:
        self.texts: list[str] = []

    def documents(self, texts: Sequence[str]) -> Any:
        self.texts.extend(texts)
        return self._vectors(texts)

    def queries(self, texts: Sequence[str]) -> Any:
        return self._vectors(texts)

    def _vectors(self, texts: Sequence[str]) -> Any:
        counts = np.array([[text.count(word) + 0.01 for word in self.vocabulary] for text in texts], dtype=np.float32)
        counts = counts.reshape(len(texts), 3)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def catalogue() -> dict[str, ToolDocument]:
    return {
        f"{word}{i}": ToolDocument(
            name=f"{word}{i}", description=f"all of {word} {i} " * 8, category=word, collection="x"
        )
        for word in Words.vocabulary
        for i in range(60)
    }


def test_segments_of_1000_tokens_hold_every_api_once() -> None:
    words = Words()
    SegmentRetriever(catalogue(), Cast({}), words).load()
    assert all(tokens_of(text) <= 1100 for text in words.texts)
    shown = "\n".join(words.texts)
    assert all(shown.count(f"- {name} (") == 1 for name in catalogue())
    assert "- storm3 (storm / x) : all of storm 3" in shown


def test_the_model_picks_from_the_nearest_segments() -> None:
    cast = Cast({SEGMENTS: [json.dumps({"apis": ["goal30", "GOAL31", "storm1", "goal30", "nowhere"]})]})
    retriever = SegmentRetriever(catalogue(), cast, Words(), segments=2)
    found = retriever.search("a goal", k=5)
    assert [hit.tool for hit in found.hits] == ["goal30", "goal31"]  # no segment of storm was shown
    assert found.usage.model_calls == 1
    assert found.transcript[-1] == "picked: goal30, goal31"
    assert len(found.transcript) == 3


def test_segments_that_do_not_fit_the_prompt_are_left_out() -> None:
    cast = Cast({SEGMENTS: ['{"apis": []}']})
    retriever = SegmentRetriever(catalogue(), cast, Words(), segments=5, options=Options(prompt_tokens=1600))
    found = retriever.search("a goal " * 20_000, k=5)
    assert prompt_tokens(cast.prompts[0][1]) <= 1600
    assert found.hits == ()


@pytest.mark.parametrize("said", ["no idea", "[]", '{"apis": "goal1"}', '{"apis": [3]}'])
def test_a_reply_that_cannot_be_read_picks_nothing_and_says_so(said: str) -> None:
    found = SegmentRetriever(catalogue(), Cast({SEGMENTS: [said]}), Words()).search("a goal", k=5)
    assert found.hits == ()
    assert found.transcript[-1] == "picked: none"


def test_an_empty_catalogue_asks_nobody() -> None:
    assert SegmentRetriever({}, Cast({}), Words()).search("a goal", k=5).hits == ()
    assert PlainAgent({}, Cast({})).search("a goal", k=5).hits == ()
