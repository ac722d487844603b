"""Writes programs: the prompt, the samples, and the program that stands in a reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from atc.prompts import fill
from atc.types import Program
from protocols.ask import Completion, Message
from protocols.render import stubs_within
from protocols.toolbox import Toolbox
from sandbox.fenced import program_in

Complete = Callable[..., Completion]
"""`complete(messages, purpose=…, temperature=…, seed=…)`: a model with the run's bookkeeping around it."""


def opening(task: str, tools: Toolbox, *, budget: int) -> list[Message]:
    """The conversation that asks for a first program (I_c of the ATC paper).

    A worked example from another field comes first: on a small model it matters more than anything else, and what
    stands first is read once and cached. `budget` is in tokens of stubs.
    """
    text, _ = stubs_within(tools, budget=budget)
    return [
        Message("system", fill("program")),
        Message("user", fill("example_task")),
        Message("assistant", fill("example_program")),
        Message("user", fill("task", stubs=text, task=task)),
    ]


def samples(messages: Sequence[Message], complete: Complete, *, count: int, temperature: float) -> Iterator[Program]:
    """Up to `count` different programs: the greedy one first, then samples with seeds 1, 2, …

    Lazy, so that nobody waits for a sample that is not looked at. A reply without a program is skipped; a repeated
    program too.
    """
    seen: set[str] = set()
    for seed in range(count):
        completion = complete(
            messages,
            purpose="sample" if seed else "write",
            temperature=temperature if seed else 0.0,
            seed=seed,
        )
        program = parse(completion.text)
        if program is not None and program.source not in seen:
            seen.add(program.source)
            yield program


def parse(reply: str) -> Program | None:
    """The program in a reply, see `sandbox.fenced.program_in`; None when there is none."""
    source = program_in(reply)
    return Program(source) if source is not None else None
