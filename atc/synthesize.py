"""Writes programs: the prompt, the samples, and the program that stands in a reply."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Sequence

from atc.edits import Places, edited
from atc.findings import listed
from atc.prompts import fill
from atc.types import Program
from protocols.ask import Completion, Message
from protocols.parsing import parsed
from protocols.render import Docs, described_within
from protocols.schema import resolve, types
from protocols.toolbox import Tool, Toolbox

Complete = Callable[..., Completion]
"""`complete(messages, purpose=…, temperature=…, seed=…)`: a model with the run's bookkeeping around it."""
_COMBINED = ("allOf", "anyOf", "oneOf")
_MOST_NAMED = 12


def opening(task: str, tools: Toolbox, *, budget: int, docs: Docs = "full") -> list[Message]:
    """The conversation that asks for a first program (I_c of the ATC paper).

    A worked example from another field comes first: on a small model it matters more than anything else, and what
    stands first is read once and cached. `budget` is in tokens of what is told of the tools.
    """
    text, chosen = described_within(tools, budget=budget, docs=docs)
    asked = fill("task", stubs=text, task=task)
    if docs == "full" and (unknown := undescribed(chosen.values())):
        asked += "\n\n" + fill("unknown_shapes", tools=listed(unknown, most=_MOST_NAMED))
    return [
        Message("system", fill("program")),
        Message("user", fill("example_task_names" if docs == "names" else "example_task")),
        Message("assistant", fill("example_program")),
        Message("user", asked),
    ]


def undescribed(tools: Iterable[Tool]) -> list[str]:
    """Aliases of the tools of which nobody knows what they return; one that is declared to write does not count."""
    return [t.alias for t in tools if t.protocol.annotations.read_only is not False and not described(t)]


def described(tool: Tool) -> bool:
    """Whether a tool's protocol tells what a response holds, from a document or from responses that were seen."""
    protocol = tool.protocol
    if protocol.output_schema is None or protocol.evidence.level == "guessed":
        return False
    top = resolve(protocol.output_schema, protocol.output_schema)
    kinds = types(top)
    if "object" in kinds and len(kinds) == 1:
        return any(top.get(key) for key in ("properties", "additionalProperties", "patternProperties", *_COMBINED))
    return bool(kinds) or any(key in top for key in _COMBINED)


def new_program(
    messages: Sequence[Message], complete: Complete, *, known: Collection[str], most: int, temperature: float
) -> Program | None:
    """The program of the first of up to `most` replies to a prompt that is not `known`; else what the last one held.

    The first reply is greedy, those after it have the seeds 1, 2, …: they are asked for only where a reply brought
    nothing new, which would fail as it did before.
    """
    program = None
    for seed in range(most):
        purpose, warmth = ("sample", temperature) if seed else ("write", 0.0)
        program = parse(complete(messages, purpose=purpose, temperature=warmth, seed=seed).text)
        if program is not None and program.source not in known:
            break
    return program


_BLOCK = re.compile(r"^[ \t]*```[^\n]*\n(.*?)(?:```|\Z)", re.DOTALL | re.MULTILINE)


def parse(reply: str) -> Program | None:
    """The program in a reply, without what only repeats the given functions; None when there is none.

    The longest fenced block that is Python wins, then the longest block, then the whole reply if it is Python that
    does something. An unclosed fence runs to the end of the reply; one may close at the end of a line of code, as small
    models write it.
    """
    blocks = [text for block in _BLOCK.findall(reply) if (text := block.strip("\n").rstrip() + "\n").strip()]
    if not blocks:
        bare = reply.strip() + "\n"
        does = any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in _statements(bare))
        blocks = [bare] if does else []
    sources = [source for block in blocks if (source := _without_stubs(block)) is not None]
    longest = max(sources, key=lambda source: (bool(_statements(source)), len(source)), default=None)
    return Program(longest) if longest is not None else None


def _statements(source: str) -> list[ast.stmt]:
    tree = parsed(source)
    return tree.body if tree is not None else []


def _without_stubs(source: str) -> str | None:
    """`source` without functions that do nothing; None where only imports and shapes are left of it.

    A small model that sees a function's documentation sometimes answers with it. Such a stub would replace the real
    function. As it came where it is no Python, and where there are none.
    """
    body = _statements(source)
    functions = [node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    stubs = [node for node in functions if all(map(_is_constant, node.body))]  # a docstring or `...`
    if not stubs:
        return source
    left = [node for node in body if node not in stubs]
    imports = (ast.Import, ast.ImportFrom)
    if all(isinstance(node, imports) or _is_constant(node) or "TypedDict" in ast.unparse(node) for node in left):
        return None
    place = Places(source)
    return edited(Program(source), [place.over(node, "") for node in stubs]).source.lstrip("\n")


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
