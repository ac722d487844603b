"""`python -m benchmarks.decoding`: arms, rows and figures with scripted models, operations, names, and the judge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llguidance")

from atc.models.decode.formats import FUNCTION
from atc.models.decode.write_call import Sampling
from atc.models.scripted import ScriptedModel
from benchmarks.decoding import questions as funcqa
from benchmarks.decoding.arms import DecodingArm, DecodingRow, report, run_arms
from benchmarks.decoding.rivals import write_backtracking
from protocols.model import Completion, Message, Powers
from tests.labs.constrained_endpoint import TOOLS
from toolflow_bench.rows import InvalidRunFile

QUESTIONS = [
    funcqa.NumberQuestion(id="a", question="Add 2 and 3.", expected=5.0, gold=("add",)),
    funcqa.NumberQuestion(id="b", question="Divide 1 by 0.", expected=1.0, gold=("divide",)),
]
POWERS = Powers(lark=True)


def arm(mode: str, docs: str = "full") -> DecodingArm:
    return DecodingArm(model="scripted", mode=mode, docs=docs)


def ask(
    folder: Path, *replies: object, modes: tuple[str, ...] = ("free", "calls"), seed: int = 0
) -> dict[DecodingArm, list[DecodingRow]]:
    model = ScriptedModel(*replies, powers=POWERS)  # type: ignore[arg-type]
    path, asked = folder / "rows.jsonl", funcqa.FuncQa(model, seed=0)
    return run_arms([arm(mode) for mode in modes], QUESTIONS, model, asked, path=path, seed=seed)


def test_arms_are_graded_compared_and_continued(tmp_path: Path) -> None:
    rows = ask(tmp_path, "I would add them.", "divide(1, 0)", "add(2, 3)", "divide(1, 1)")
    figures = report(rows)
    free, calls = figures["arms"]["scripted free full"], figures["arms"]["scripted calls full"]
    assert (free["error"]["mean"], free["errors"], free["refused"], free["success"]["mean"]) == (
        0.5, "1 no-call", 1, 0.0,
    )  # fmt: skip
    assert (calls["error"]["mean"], calls["success"]["mean"], calls["questions"]) == (0.0, 1.0, 2)
    difference = figures["differences"]["scripted calls full - scripted free full"]
    assert (difference["error"]["mean"], difference["success"]["mean"], difference["only_it"]) == (
        -0.5,
        1.0,
        2,
    )
    assert report(ask(tmp_path)) == figures  # nothing is asked again
    with pytest.raises(InvalidRunFile, match="holds work done otherwise"):
        ask(tmp_path, seed=1)


def test_unknown_names_resolve_to_their_ending(tmp_path: Path) -> None:
    rows = ask(tmp_path, "dd(2, 3)", "vide(1, 1)", modes=("fuzzy",))
    assert [row.correct for row in rows[arm("fuzzy")]] == [True, True]


# --- the paper's rival that backtracks


ASKED = [Message("user", "What is 2 to the power of 3?")]


class Telling:
    """A model of tokens: `chances` maps what stands before to the tokens that may follow, likeliest first."""

    name, prompt_tokens = "telling", 4000
    powers = Powers(continues=True)

    def __init__(self, chances: dict[str, list[tuple[str, float]]]) -> None:
        self._chances = chances
        self.begun: list[str] = []

    def __call__(self, messages: Sequence[Message], **options: object) -> Completion:
        raise AssertionError("backtracking asks for the likeliest tokens")

    def reply(
        self, messages: Sequence[Message], options: dict[str, Any]
    ) -> tuple[dict[str, Any], Completion]:
        """The likeliest token of each place, until nothing may follow."""
        begun = messages[-1].content if messages[-1].role == "assistant" else ""
        self.begun.append(begun)
        text, content = begun, []
        while text in self._chances and len(content) < options["max_tokens"]:
            tops = [
                {"token": token, "logprob": math.log(chance)}
                for token, chance in self._chances[text][: options["top_logprobs"]]
            ]
            content.append(tops[0] | {"top_logprobs": tops})
            text += tops[0]["token"]
        usage = {"input_tokens": 10, "output_tokens": len(content), "seconds": 0.5}
        completion = Completion(text=text.removeprefix(begun), model=self.name, **usage)  # type: ignore[arg-type]
        return {"choices": [{"logprobs": {"content": content}}]}, completion


CHANCES: dict[str, list[tuple[str, float]]] = {
    "": [("It is ", 0.6), ("power", 0.39)],
    "It is ": [("pro", 0.5), ("po", 0.3), ("<|im_end|>", 0.2), ("", 0.1)],
    "It is pro": [("duct(", 0.9), ("pose(", 0.1)],
    "It is product(": [("2, 3)", 0.6), ("2", 0.4)],
    "It is product(2": [(", 3)", 1.0)],
    "It is po": [("wer(", 1.0)],
    "It is power(": [("2)", 0.8), ("2, 3)", 0.2)],
}


def test_backtracking_goes_to_the_likeliest_alternative() -> None:
    model = Telling(CHANCES)
    written, prompt_tokens = write_backtracking(
        model, ASKED, TOOLS, form=FUNCTION, sampling=Sampling()
    )
    # `po` at its place (0.3) was likelier than `pose(` (0.1) and, later, `2, 3)` (0.2). `2` leads to the same
    # characters as before, and what stands before the call stays.
    assert model.begun == ["", "It is po", "It is power(2, 3)"]
    assert (written.text, written.is_valid, written.how) == (
        "It is power(2, 3)",
        True,
        "backtracked",
    )
    assert (written.tries, prompt_tokens) == (3, 10)
