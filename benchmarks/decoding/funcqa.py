"""FuncQA: arithmetic in words, answered by one call of 13 operations; right is within 0.1% (ToolDec's table 4)."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from atc.decode.read import ReadCall
from benchmarks.decoding.arms import Asked, Case
from benchmarks.runner import read_json
from protocols.ask import Ask
from protocols.errors import ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol, load
from protocols.toolbox import Tool, Toolbox

FOLDER = Path("../shared/data/funcqa")
ARMS = [(mode, docs) for docs in ("full", "names") for mode in ("free", "calls", "fuzzy", "backtrack")]
_MOST_DIGITS = 5000
"""Of a result: exact integers beyond are refused, since computing them could take for ever."""
_CALL = re.compile(r"<?(\w+)>?\(([^()]*)\)")


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0 and abs(base) > 1:
        _bounded(exponent * math.log10(abs(base)))
    return base**exponent


def _ways(count: Callable[[int, int], int], total: int, chosen: int) -> int:
    _bounded(min(chosen, total) * math.log10(max(total, 1)))
    return count(total, chosen) if chosen <= total else 0


def _bounded(digits: float) -> None:
    if digits > _MOST_DIGITS:
        raise ValueError(f"it would have more than {_MOST_DIGITS:,} digits")


def _sum(*numbers: Any) -> Any:
    return sum(numbers) if all(isinstance(one, int) for one in numbers) else math.fsum(numbers)


_WAYS: Mapping[str, Callable[..., Any]] = {
    "add": _sum,
    "subtract": operator.sub,
    "multiply": lambda *numbers: math.prod(numbers),
    "divide": operator.truediv,
    "power": _power,
    "sqrt": math.sqrt,
    "log": math.log10,
    "ln": math.log,
    "lcm": math.lcm,
    "gcd": math.gcd,
    "remainder": operator.mod,
    "choose": partial(_ways, math.comb),
    "permutate": partial(_ways, math.perm),
}


def operations() -> Toolbox:
    """The 13 tools, named as in the data. Calling one computes; what has no result is a `ToolError`."""
    documents = json.loads(Path(__file__).with_name("operations.json").read_text(encoding="utf-8"))
    return Toolbox(Tool(one, partial(_compute, one)) for one in map(load, documents))


def _compute(protocol: ToolProtocol, arguments: JsonObject) -> Json:
    given = [arguments[name] for name in protocol.parameters if name in arguments]
    numbers = [int(n) if isinstance(n, float) and n.is_integer() and abs(n) < 2**53 else n for n in given]
    try:
        result = _WAYS[protocol.name](*numbers)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ToolError(400, f"no result: {error}") from error
    if isinstance(result, complex) or not math.isfinite(result):
        raise ToolError(400, "no result: it is no finite real number")
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Case):
    """A question whose answer is a number. `negated`: a minus stands before the gold call, so either sign is right."""

    negated: bool = False

    def accepts(self, result: float) -> bool:
        """Whether a call's result is right."""
        wanted = float(self.expected)
        return any(abs(sign * result - wanted) <= 0.001 * abs(wanted) for sign in ((1, -1) if self.negated else (1,)))


def read_questions(folder: Path) -> list[Question]:
    """The questions of `one_hop.json`. Raises InvalidData: it cannot be read."""
    rows = read_json(folder / "one_hop.json", "the folder with FuncQA's one_hop.json")["one_hop"]
    return [_question(row) for row in rows]


def _question(row: Mapping[str, Any]) -> Question:
    raw = row["calls"][-1].get("raw", "")
    found = list(_CALL.finditer(raw))
    return Question(
        id=row["id"],
        question=" ".join(row["question"].split()),
        expected=float(str(row["answer"]).replace(",", "")),
        gold=tuple(name for name, _ in gold_texts([row])),
        negated=bool(found) and raw[: found[-1].start()].rstrip().endswith("-"),
    )


def gold_texts(rows: Any) -> Iterator[tuple[str, str]]:
    """Names and arguments of gold calls: training rows write calls out, questions list them."""
    for row in rows if isinstance(rows, list) else rows["one_hop"]:
        for written in row.get("tar_eq", ()):
            if found := _CALL.match(written):
                yield found[1], found[2]
        for call in row.get("calls", ()):
            if "name" in call:
                yield call["name"], ", ".join(call["args"])
            elif found := _CALL.search(call["raw"]):
                yield found[1], found[2]


class FuncQa(Asked):
    """Right is a valid call whose result is the answer."""

    def __init__(self, ask: Ask, *, seed: int) -> None:
        super().__init__(ask, operations(), budget=ask.prompt_tokens, seed=seed)

    def answer(self, call: ReadCall) -> Json:
        """What a valid call gives; None where it has no result."""
        if not call.valid:
            return None
        tool = self.tools[call.tool]
        try:
            return tool.call(tool.original(call.arguments))
        except ToolError:
            return None

    def accepts(self, case: Question, answer: Json) -> bool:
        """Whether a number is the case's."""
        return isinstance(answer, int | float) and case.accepts(answer)
