"""Calls and programs decoded with random logits: nothing may be invalid, nothing may go on without an end."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llguidance")

from atc.decode.errors import Undecodable
from atc.decode.vocabulary import Vocabulary
from tests.decode_words import small_vocabulary
from toolflow_bench.decoding.random import calls as calls_module
from toolflow_bench.decoding.random.accepted import gold_rows
from toolflow_bench.decoding.random.calls import decode_call
from toolflow_bench.decoding.random.figures import RandomReport
from toolflow_bench.decoding.random.programs import certain_findings, decode_program
from toolflow_bench.decoding.random.samplers import SAMPLERS, Crowd
from toolflow_bench.decoding.random.suite import measure, program_tools

SHARED = Path(__file__).resolve().parents[1] / "../shared/data"


@pytest.fixture(scope="module")
def report() -> RandomReport:
    return measure(small_vocabulary(), calls=1_000, seed=8, data=SHARED, gold=False)


def test_a_thousand_calls_are_valid_and_end(report: RandomReport) -> None:
    told = [f"{row.verdict}: {row.catalogue} {row.form} {row.sampler}: {row.why}" for row in report.calls]
    assert len(told) == 1_000
    assert [one for one in told if one.startswith(("invalid", "unfinished"))] == []


def test_all_kinds_of_tools_formats_and_samplers_had_their_turn(report: RandomReport) -> None:
    figures = report.as_json()["calls"]
    assert set(figures["by format"]) == {
        f"format {name}" for name in ("json", "function", "tooldec", "python", "react")
    }
    assert set(figures["by sampler"]) == set(SAMPLERS)
    assert {"random schemas", "ToolFlow"} <= set(figures["by source"])
    assert figures["all"]["tokens_median"] > 5


def test_what_is_refused_at_build_is_beyond_a_grammar_or_contradictory(report: RandomReport) -> None:
    refused = {one.tool: one for one in report.rejected}
    assert refused, "broken schemas are among the random ones"
    assert all(one.problem and one.clause for one in refused.values())
    hopeless = [one for one in refused.values() if not one.satisfiable]
    assert len(hopeless) >= len(refused) / 3


def test_tables_and_json_tell_the_same(report: RandomReport) -> None:
    lines = "\n".join(report.lines())
    assert lines.startswith("1,000 calls with random logits, seed 8")
    assert f"{report.as_json()['calls']['all']['tokens_most']}" in lines


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data of ../shared are not here")
def test_gold_calls_that_conform_are_accepted() -> None:
    rows = gold_rows(SHARED, small_vocabulary())
    assert {row.source for row in rows} >= {"FuncQA train", "FuncQA one_hop", "BFCL", "RestBench"}
    assert [one for row in rows for one in row.refused] == []


class Endless:
    """An automaton that allows one token for ever."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary, self.text, self.is_finished = vocabulary, b"", False
        self.state = type("State", (), {"mode": "arguments"})

    def allowed(self) -> Any:
        import numpy as np

        mask = np.zeros(self.vocabulary.words, np.uint32)
        mask[2] = 2
        return mask

    def advance(self, token: int) -> None:
        self.text += self.vocabulary.tokens[token]


def test_a_call_without_an_end_is_found_unfinished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls_module, "MOST_TOKENS", 50)
    vocabulary = small_vocabulary()
    sampler = Crowd(vocabulary.tokens, vocabulary.eos).make("T=1.0", 0)
    automaton: Any = Endless(vocabulary)
    decoded = decode_call(automaton, sampler, size=vocabulary.size)
    assert decoded.problem == "not ended after 50 tokens"
    assert decoded.text == "A" * 50


@pytest.fixture
def programs() -> Iterator[tuple[str, str, list[str]]]:
    """Problem, source and findings of programs with random logits, by every third sampler."""
    from atc.decode.program import Statements

    vocabulary = small_vocabulary()
    crowd = Crowd(vocabulary.tokens, vocabulary.eos)

    def each() -> Iterator[tuple[str, str, list[str]]]:
        for number, catalogue in enumerate(islice(program_tools(Path("nothing"), seed=3), 8)):
            sampler = crowd.make(list(SAMPLERS)[number * 3 % len(SAMPLERS)], number)
            try:
                decoded = decode_program(Statements(catalogue.tools), sampler, vocabulary)
            except Undecodable as error:
                yield f"refused: {error}", "", []
                continue
            yield decoded.problem, decoded.source, certain_findings(decoded.source, catalogue.tools)

    return each()


def test_random_programs_end_and_are_clean_to_the_static_check(programs: Iterator[tuple[str, str, list[str]]]) -> None:
    for problem, source, findings in programs:
        assert not problem, source
        assert not findings, source
        assert "print(" in source
