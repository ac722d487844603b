"""Writes programs: the prompt, the samples, and the program that stands in a reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from atc.prompts import fill
from atc.types import Program
from protocols.ask import Completion, Message
from protocols.render import Docs, described_within
from protocols.toolbox import Toolbox
from sandbox.fenced import program_in

if TYPE_CHECKING:
    from atc.decode.decoder import Decoder

Complete = Callable[..., Completion]
"""`complete(messages, purpose=…, temperature=…, seed=…)`: a model with the run's bookkeeping around it."""


def opening(task: str, tools: Toolbox, *, budget: int, docs: Docs = "full") -> list[Message]:
    """The conversation that asks for a first program (I_c of the ATC paper).

    A worked example from another field comes first: on a small model it matters more than anything else, and what
    stands first is read once and cached. `budget` is in tokens of what is told of the tools.
    """
    text, _ = described_within(tools, budget=budget, docs=docs)
    kind = "_names" if docs == "names" else ""
    return [
        Message("system", fill(f"program{kind}")),
        Message("user", fill(f"example_task{kind}")),
        Message("assistant", fill("example_program")),
        Message("user", fill("task", stubs=text, task=task)),
    ]


def samples(
    messages: Sequence[Message],
    complete: Complete,
    *,
    count: int,
    temperature: float,
    decoder: Decoder | None = None,
    stopped: Callable[[], bool] = lambda: False,
    before: str = "",
    seen: str = "",
) -> Iterator[Program]:
    """Up to `count` different programs: the greedy one first, then samples with seeds 1, 2, …

    Lazy, so that nobody waits for a sample that is not looked at. A reply without a program is skipped; a repeated
    program too. A `decoder` has those written under grammars that it wants so; the first of them is greedy, too.
    `stopped` says whether the check found the last program to be wrong; for `before` and `seen` see `Decoder.write`.
    """
    found: set[str] = set()
    temperatures = {"held": 0.0, "free": 0.0}  # of the next one; the first of either kind is greedy
    empty = False
    for seed in range(count):
        purpose = "sample" if seed else "write"
        program = None
        if decoder is not None and decoder.constrains(stopped=empty or stopped()):
            warmth, temperatures["held"] = temperatures["held"], temperature
            program = decoder.write(messages, purpose=purpose, temperature=warmth, seed=seed, before=before, seen=seen)
        if program is None:
            warmth, temperatures["free"] = temperatures["free"], temperature
            program = parse(complete(messages, purpose=purpose, temperature=warmth, seed=seed).text)
        empty = program is None
        if program is not None and program.source not in found:
            found.add(program.source)
            yield program


def parse(reply: str) -> Program | None:
    """The program in a reply, see `sandbox.fenced.program_in`; None when there is none."""
    source = program_in(reply)
    return Program(source) if source is not None else None
