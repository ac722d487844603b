"""Whether a reference solution resolves its query, as a model sees it (A.8)."""

from __future__ import annotations

from collections.abc import Sequence

from atc.retrieve.hierarchy.listing import plain
from protocols.abridge import abridged, clipped
from protocols.ask import Ask
from toolflow_bench.anytoolbench.prompts import fill
from toolflow_bench.anytoolbench.solution import Made, Refusal, Written, noticed
from toolflow_bench.anytoolbench.verdicts import verdict

_RESOLVED = "resolved"
_LETTERS = 3
"""Characters of a response for each token that it may take."""
_LEAST = 300


def judged(written: Written, made: Sequence[Made], ask: Ask) -> tuple[str, Refusal | None]:
    """The judge's reason, and why the solution is not taken where it is not.

    Responses share half of a prompt.

    Raises:
        ModelUnavailable: the judge did not answer.
    """
    most = max(_LEAST, ask.prompt_tokens * _LETTERS // 2 // max(1, len(made)))
    lines = [f"{number}. {_line(call, most)}" for number, call in enumerate(made, start=1)]
    odd = noticed(written, made)
    told = "\n\n" + fill("judge_noticed", lines="\n".join(f"- {line}" for line in odd)) if odd else ""
    case = fill("judge_task", query=written.query, calls="\n".join(lines), answer=written.answer, noticed=told)
    said = verdict(ask, fill("judge"), case, (_RESOLVED, "unresolved"))
    if said.word == _RESOLVED:
        return said.reason, None
    return said.reason, Refusal("unresolved" if said.word else "unjudged", said.reason)


def _line(call: Made, most: int) -> str:
    given = clipped(", ".join(f"{name}={value!r}" for name, value in call.arguments.items()), _LEAST)
    return f"{plain(call.api)}({given}) → {abridged(call.response, most=most)}"
