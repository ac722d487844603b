"""The paper's rivals: names matched by suffix, and backtracking to the next-best token."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from atc.decode.call import Sampling
from atc.decode.formats import FUNCTION
from benchmarks.decoding.rivals import write_backtracking
from protocols.ask import Completion, Message, Powers
from tests.decode_calls_lab import TOOLS

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

    def reply(self, messages: Sequence[Message], options: dict[str, Any]) -> tuple[dict[str, Any], Completion]:
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


def test_it_goes_back_to_the_token_whose_alternative_was_likeliest() -> None:
    model = Telling(CHANCES)
    written = write_backtracking(model, ASKED, TOOLS, form=FUNCTION, sampling=Sampling())
    # `po` at its place (0.3) was likelier than `pose(` (0.1) and, later, `2, 3)` (0.2). `2` leads to the same
    # characters as before, and what stands before the call stays.
    assert model.begun == ["", "It is po", "It is power(2, 3)"]
    assert (written.text, written.valid, written.how) == ("It is power(2, 3)", True, "backtracked")
    assert (written.tries, written.requests, written.input_tokens, written.seconds) == (3, 3, 30, 1.5)
    assert written.output_tokens == 4 + 2 + 0
    assert written.note == ""
