"""Sample programs in the dialects of Python in which models call tools.

They follow the documentation of public code modes: plain calls, awaited calls, thread pools, tasks,
a `return` outside of functions. Each begins with comments that say what is expected of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sandbox.shop import ITEM, shop
from protocols.schema import Json
from protocols.toolbox import Toolbox
from sandbox.testing import make_tool
from sandbox.trace import Trace

FOLDER = Path(__file__).parents[2] / "tests" / "data" / "dialects"
_HEAD = re.compile(r"# (answer|calls at once|monty lacks): (.*)\n")


@dataclass(frozen=True, slots=True)
class Dialect:
    """A sample program.

    `answer` is what it prints, or the `repr` of its value. `at_once` is the number of calls of
    `get_item` that it makes side by side. `monty_lacks` is the part of Python that it needs and
    monty does not have, or "".
    """

    name: str
    source: str
    answer: str
    at_once: int
    monty_lacks: str = ""


def load_dialects() -> list[Dialect]:
    """Return the sample programs, sorted by name."""
    found = []
    for path in sorted(FOLDER.glob("*.py")):
        source = path.read_text("utf-8")
        said = dict(_HEAD.findall(source))
        at_once = int(said["calls at once"])
        lacks = said.get("monty lacks", "")
        found.append(Dialect(path.stem, source, said["answer"], at_once, lacks))
    return found


def dialect_tools(wait: Callable[[], object]) -> Toolbox:
    """Return the tools of the shop. `get_item` calls `wait` before it answers."""
    plain = shop()

    def get_item(id: int) -> Json:  # noqa: A002 - the tool's argument
        wait()
        return plain["get_item"].call({"id": id})

    waiting = make_tool("get_item", {"id": {"type": "integer"}}, get_item, output=ITEM)
    return Toolbox([waiting, *(tool for alias, tool in plain.items() if alias != "get_item")])


def answer_of(trace: Trace) -> str:
    """Return what a program printed, or else its value as Python writes it.

    Tuples have become lists on the way, so both are compared in the notation of lists.
    """
    return trace.stdout.strip() or repr(trace.value)


def is_right(dialect: Dialect, trace: Trace) -> bool:
    """Return True if a program ended with the expected answer."""
    return trace.failure is None and _plain(answer_of(trace)) == _plain(dialect.answer)


def _plain(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
