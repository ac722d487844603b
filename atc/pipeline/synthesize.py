"""Writes programs: the prompt, the samples, and the program that stands in a reply."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from atc.core.messages import format_list
from atc.core.prompts import fill
from atc.core.replies import program_in_reply
from atc.core.types import Program
from protocols.model import Completion, Message
from protocols.render import Docs, describe_within_budget
from protocols.schema import resolve, types
from protocols.toolbox import Tool, Toolbox

Complete = Callable[..., Completion]
"""`complete(messages, purpose=…, temperature=…, seed=…)`: a model with the run's bookkeeping around it."""
_COMBINED = ("allOf", "anyOf", "oneOf")
_MOST_NAMED = 12


def build_program_prompt(
    task: str, tools: Toolbox, *, budget: int, docs: Docs = "full"
) -> list[Message]:
    """The conversation that asks for a first program (I_c of the ATC paper).

    A worked example from another field comes first: on a small model it matters more than anything else, and what
    stands first is read once and cached. `budget` is in tokens of what is told of the tools.
    """
    text, chosen = describe_within_budget(tools, budget=budget, docs=docs)
    asked = fill("task", stubs=text, task=task)
    if docs == "full" and (unknown := find_undescribed(chosen.values())):
        asked += "\n\n" + fill("unknown_shapes", tools=format_list(unknown, most=_MOST_NAMED))
    return [
        Message("system", fill("program")),
        Message("user", fill("example_task_names" if docs == "names" else "example_task")),
        Message("assistant", fill("example_program")),
        Message("user", asked),
    ]


def find_undescribed(tools: Iterable[Tool]) -> list[str]:
    """Aliases of the tools of which nobody knows what they return; one that is declared to write does not count."""
    return [
        t.alias
        for t in tools
        if t.protocol.annotations.read_only is not False and not is_described(t)
    ]


def is_described(tool: Tool) -> bool:
    """Whether a tool's protocol tells what a response holds, from a document or from responses that were seen."""
    protocol = tool.protocol
    if protocol.output_schema is None or protocol.evidence.level == "guessed":
        return False
    top = resolve(protocol.output_schema, protocol.output_schema)
    kinds = types(top)
    if "object" in kinds and len(kinds) == 1:
        return any(
            top.get(key)
            for key in ("properties", "additionalProperties", "patternProperties", *_COMBINED)
        )
    return bool(kinds) or any(key in top for key in _COMBINED)


def new_program(
    messages: Sequence[Message],
    complete: Complete,
    *,
    known: Collection[str],
    most: int,
    temperature: float,
) -> Program | None:
    """The program of the first of up to `most` replies to a prompt that is not `known`; else what the last one held.

    The first reply is greedy, those after it have the seeds 1, 2, …: they are asked for only where a reply brought
    nothing new, which would fail as it did before.
    """
    program = None
    for seed in range(most):
        purpose, warmth = ("sample", temperature) if seed else ("write", 0.0)
        program = program_in_reply(
            complete(messages, purpose=purpose, temperature=warmth, seed=seed).text
        )
        if program is not None and program.source not in known:
            break
    return program
