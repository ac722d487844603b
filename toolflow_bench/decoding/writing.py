"""One call, written by a model in one of the modes, executed, and told as a row."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from protocols.ask import Ask, Message
from protocols.errors import AtcError, ToolError
from protocols.jsontypes import Json
from protocols.render import Docs, described_within
from protocols.toolbox import Toolbox
from toolflow_bench.decoding.frame import text_digest
from toolflow_bench.metrics import Row

if TYPE_CHECKING:
    from atc.decode.call import Written
    from atc.decode.formats import CallFormat
    from atc.decode.read import ReadCall

MODES = ("free", "calls", "fuzzy", "fuzzy-longest", "backtrack")
"""`free`: nothing is asked of the endpoint, the reply is read. `calls`: held to a call while it is written. `fuzzy`: a
free reply whose unknown name is taken for the tool that ends with it (ToolDec's table 3), `fuzzy-longest` for the one
that shares the longest ending. `backtrack`: a failed call is taken up again at the next-likeliest token (table 4)."""
DOCS = ("full", "names")

Failed = Callable[["ReadCall"], bool]
"""Whether making a valid call fails: what backtracking goes by besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """How calls are asked for: the same for every arm of a suite."""

    ask: Ask
    tools: Toolbox
    form: CallFormat
    max_tokens: int
    budget: int
    """Tokens of documentation; tools that do not fit are left out of the prompt."""
    seed: int = 0

    def prompt(self, task: str, docs: str) -> list[Message]:
        """The conversation that asks for one call; what does not fit `budget` is left out."""
        from atc.decode.prompt import call_prompt

        told: Docs = "names" if docs == "names" else "full"
        return call_prompt(task, self.tools, self.form, told, budget=self.budget)

    def asked(self, docs: str) -> str:
        """A digest of how questions are asked, for the header of rows."""
        prompt = [message.content for message in self.prompt("", docs)]
        return text_digest([prompt, self.form.name, self.max_tokens])

    def warm(self, docs: str) -> None:
        """See `warm`."""
        warm(self.ask, self.prompt("", docs))

    def told(self, docs: str) -> Toolbox:
        """The tools that a prompt tells of."""
        shown = self.tools.map(lambda tool: replace(tool, protocol=replace(tool.protocol, output_schema=None)))
        told: Docs = "names" if docs == "names" else "full"
        return described_within(shown, budget=self.budget, docs=told)[1]

    def write(self, mode: str, messages: Sequence[Message], *, failed: Failed | None = None) -> Written:
        """A call in `mode`, at temperature 0.

        Raises:
            ModelUnavailable: no reply could be had.
            Undecodable: a tool's schema cannot be held to.
        """
        from atc.decode.call import Sampling, write_call

        common: dict[str, Any] = {
            "form": self.form,
            "sampling": Sampling(max_tokens=self.max_tokens, seed=self.seed),
        }
        if mode == "free":
            return write_call(self.ask, messages, self.tools, decoding="off", **common)
        if mode == "calls":
            return write_call(self.ask, messages, self.tools, decoding="calls", **common)
        if mode == "backtrack":
            from atc.decode.rivals import write_backtracking

            return write_backtracking(self.ask, messages, self.tools, failed=failed, **common)
        from atc.decode.rivals import write_fuzzy

        return write_fuzzy(self.ask, messages, self.tools, rule=_RULES[mode], **common)

    def mended(self, mode: str, free: Row) -> Row:
        """The row that a mode of `fuzzy` has, up to the call, given the free reply: at temperature 0 it is the same."""
        from atc.decode.rivals import fuzzy_call

        begun = time.perf_counter()
        call = fuzzy_call(free.programs[-1], self.tools, self.form, rule=_RULES[mode])
        took = time.perf_counter() - begun
        made = {**free.made[-1], **told(call), "how": mode}
        return replace(free, made=(made,), seconds=free.seconds + took, reason="", failure="", answer=None)


def warm(ask: Ask, messages: Sequence[Message]) -> None:
    """Have an embedded model load its weights and read a prompt; one elsewhere is not asked, it would cost."""
    from atc.models.local import LocalModel

    if isinstance(ask, LocalModel):
        with suppress(AtcError):  # what is wrong with the model, the first question tells
            ask(messages, max_tokens=1)


_RULES: Mapping[str, Any] = {"fuzzy": "published", "fuzzy-longest": "longest"}


def noted(row: Row, written: Written, *, seconds: float) -> Row:
    """`row` with a reply and what it took added; the call is not made yet."""
    requests = max(written.requests, 1)
    facts: dict[str, Json] = {
        "how": written.how,
        "tries": written.tries,
        "requests": written.requests,
        "prompt_tokens": written.input_tokens // requests,
        "cached_tokens": written.cached_tokens,
        "enforced": written.enforced,
        "truncated": written.truncated,
        "note": written.note,
    }
    return replace(
        row,
        programs=(*row.programs, written.text),
        made=(*row.made, {"attempt": len(row.made), **told(written.call), **facts}),
        attempts=row.attempts + written.tries,
        model_calls=row.model_calls + written.requests,
        input_tokens=row.input_tokens + written.input_tokens,
        output_tokens=row.output_tokens + written.output_tokens,
        seconds=row.seconds + seconds,
        model_seconds=row.model_seconds + written.seconds,
    )


def told(call: ReadCall) -> dict[str, Json]:
    """A call as a row's `made` holds it, before it is made; `class` is that of its error, empty where it is valid."""
    return {
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "name": call.name,
        "class": "" if call.error is None else call.error.kind,
        "line": 1,
        "outcome": "not_run",
        "status": None,
        "error": "" if call.error is None else call.error.message,
        "seconds": 0.0,
        "reused": False,
    }


def execute(tools: Toolbox, made: Mapping[str, Any]) -> tuple[dict[str, Any], Json]:
    """The last call of a row, made where it is valid, and what it gave (None where it was not made or failed)."""
    if made["class"]:
        return dict(made), None
    tool = tools[made["tool"]]
    begun = time.perf_counter()
    try:
        result = tool.unwrap(tool.call(tool.original(made["arguments"])))
    except ToolError as error:
        took = time.perf_counter() - begun
        return {**made, "outcome": "refused", "status": error.status, "error": str(error), "seconds": took}, None
    return {**made, "outcome": "done", "error": None, "seconds": time.perf_counter() - begun}, result
