"""A failed attempt as the ways of telling of it see it, and what they share: writes that have happened already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from atc.findings import invocation, snippet
from atc.prompts import fill
from atc.synthesize import Complete
from atc.types import Attempt
from protocols.ask import Message
from protocols.render import Docs
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall


@dataclass(frozen=True, slots=True)
class Case:
    """An attempt, the tools that it could call, and what else a way of repair may use."""

    attempt: Attempt
    tools: Toolbox
    complete: Complete | None = None
    """Asks the model in between: `reflection` needs it."""
    orphans: Sequence[ToolCall] = ()
    """Writes that happened, which the next program would leave behind if it did not make them."""
    messages: Sequence[Message] = ()
    """The conversation so far."""
    docs: Docs = "full"
    """With "names" no tool is described."""
    made: Sequence[ToolCall] = ()
    """The calls of all attempts so far."""

    @property
    def written(self) -> Message:
        """The model's own turn: its program as it ran."""
        source = self.attempt.program.source
        return Message("assistant", f"```python\n{source}```" if source.strip() else "(no program)")

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """What the attempt called."""
        return self.attempt.trace.calls if self.attempt.trace is not None else ()

    def rewrite(self, parts: Iterable[str]) -> Message:
        """The turn that asks for the whole program again, after what there is to say; empty parts are left out.

        Writes that were made are named last, whatever the way.
        """
        told = [part.strip("\n") for part in (*parts, writes_told(self.orphans))]
        return Message("user", fill("repair", told="\n\n".join(part for part in told if part)))


def writes_told(made: Sequence[ToolCall]) -> str:
    """What writes did, and how the next program is to treat them; empty where there are none.

    The program that keeps such a call gets its stored result: the journal answers it.
    """
    done = [f"- {_told(call)}" for call in made]
    return fill("repair_writes", calls="\n".join(done)) if done else ""


def _told(call: ToolCall) -> str:
    if call.outcome == "unknown":
        return f"{invocation(call)}, of which nobody knows whether it took effect"
    return f"{invocation(call)} gave {snippet(call.result)}"
