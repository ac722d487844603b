"""Writes programs: the prompt, the samples, and the program that stands in a reply."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from atc.prompts import fill
from atc.restated import without_restated
from atc.types import Program
from protocols.ask import Completion, Message
from protocols.render import stubs_within
from protocols.toolbox import Toolbox

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
    """The program in a reply, or None when there is none.

    The longest fenced block that is Python wins, then the longest block, then the whole reply if it is Python that
    does something. An unclosed fence runs to the end of the reply. What only repeats the given functions is left out.
    """
    fenced = _fenced(reply)
    if fenced:
        blocks = [block for one in fenced if (block := without_restated(one)) is not None]
        best = max(blocks, key=lambda block: (bool(_statements(block)), len(block)), default=None)
        return Program(best) if best is not None else None
    bare = reply.strip()
    if any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in _statements(bare)):
        source = without_restated(bare + "\n")
        return Program(source) if source is not None else None
    return None


def _fenced(reply: str) -> list[str]:
    blocks: list[list[str]] = []
    inside = False
    for line in reply.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
            if inside:
                blocks.append([])
        elif inside:
            code, closing, _ = line.partition("```")  # a fence glued to the last line, as small models write it
            blocks[-1].append(code)
            inside = not closing
    texts = ["\n".join(lines).strip("\n").rstrip() + "\n" for lines in blocks]
    return [text for text in texts if text.strip()]


def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
