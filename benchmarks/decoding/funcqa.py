"""FuncQA: arithmetic in words, answered by one call of 13 operations; right is within 0.1% (ToolDec's table 4)."""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from atc.decode.formats import FUNCTION
from atc.decode.read import ReadCall
from benchmarks.decoding.arms import Arm, Case, Row, Writer
from benchmarks.runner import InvalidData, read_json
from protocols.ask import Ask, Message
from protocols.errors import ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox

FOLDER = Path("../shared/data/funcqa")
ARMS = [(mode, docs) for docs in ("full", "names") for mode in ("free", "calls", "fuzzy", "fuzzy-longest", "backtrack")]
_MORE = ("c", "d", "e", "f", "g", "h")
"""Arguments beyond the second of the operations that take any number of them; no question of FuncQA has so many."""
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


_ANY: JsonObject = {"type": "number"}
_POSITIVE: JsonObject = {"type": "number", "exclusiveMinimum": 0}
_INTEGER: JsonObject = {"type": "integer"}
_WHOLE: JsonObject = {"type": "integer", "minimum": 0}
_OPERATIONS: Mapping[str, tuple[str, Callable[..., Any], str, JsonObject, bool]] = {
    "add": ("Add numbers: the sum.", _sum, "a b", _ANY, True),
    "subtract": ("Subtract b from a: the difference a - b.", operator.sub, "a b", _ANY, False),
    "multiply": ("Multiply numbers: the product.", lambda *n: math.prod(n), "a b", _ANY, True),
    "divide": ("Divide a by b: the quotient a / b.", operator.truediv, "a b", _ANY, False),
    "power": ("Raise a number to a power: base to the exponent.", _power, "base exponent", _ANY, False),
    "sqrt": ("The square root of a number.", math.sqrt, "x", {"type": "number", "minimum": 0}, False),
    "log": ("The logarithm of a number to base 10.", math.log10, "x", _POSITIVE, False),
    "ln": ("The natural logarithm of a number, to base e.", math.log, "x", _POSITIVE, False),
    "lcm": ("The least common multiple of whole numbers.", math.lcm, "a b", {"type": "integer", "minimum": 1}, True),
    "gcd": ("The greatest common divisor of whole numbers.", math.gcd, "a b", _WHOLE, True),
    "remainder": ("What is left over when a is divided by b (a modulo b).", operator.mod, "a b", _INTEGER, False),
    "choose": ("In how many ways k of n things can be picked where their order does not matter (combinations).",
               partial(_ways, math.comb), "n k", _WHOLE, False),
    "permutate": ("In how many ways k of n things can be arranged where their order matters (permutations).",
                  partial(_ways, math.perm), "n k", _WHOLE, False),
}  # fmt: skip
"""What each does, how, its arguments, the schema of each, and whether more may follow."""
_ARGUMENTS = """
a number, a number to add
what is subtracted from, what is taken away
a number, a number to multiply by
what is divided, what it is divided by; not 0
the number that is multiplied by itself, how often
a number; not negative
a number greater than 0
a number greater than 0
a whole number, another whole number
a whole number, another whole number
the whole number that is divided, the whole number that it is divided by
how many things there are, how many are picked
how many things there are, how many are arranged
"""
"""What the arguments of each are, in the order of the operations."""
_TOLD = dict(zip(_OPERATIONS, _ARGUMENTS.strip().splitlines(), strict=True))


def operations() -> Toolbox:
    """The 13 tools, named as in the data. Calling one computes; what has no result is a `ToolError`."""
    return Toolbox(Tool(_protocol(name), partial(_compute, name)) for name in _OPERATIONS)


def _protocol(name: str) -> ToolProtocol:
    does, _, names, schema, more = _OPERATIONS[name]
    required = names.split()
    told = [text.replace(";", ",") for text in _TOLD[name].split(", ")]
    properties = {argument: {**schema, "description": text} for argument, text in zip(required, told, strict=True)}
    properties |= {argument: dict(schema) for argument in (_MORE if more else ())}
    if name == "remainder":
        properties["b"]["minimum"] = 1
    closed = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return ToolProtocol(name=name, description=does, input_schema=closed)


def _compute(name: str, arguments: JsonObject) -> Json:
    _, compute, names, *_ = _OPERATIONS[name]
    given = [arguments[argument] for argument in (*names.split(), *_MORE) if argument in arguments]
    numbers = [int(n) if isinstance(n, float) and n.is_integer() and abs(n) < 2**53 else n for n in given]
    try:
        result = compute(*numbers)
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
        signs = (1.0, -1.0) if self.negated else (1.0,)
        return any(close(sign * result, float(self.expected)) for sign in signs)


def close(found: float, wanted: float) -> bool:
    """Equal within 0.1% of `wanted`."""
    return abs(found - wanted) <= 0.001 * abs(wanted)


def read_questions(path: Path) -> list[Question]:
    """The questions of a file, or of `one_hop.json` in a folder. Raises InvalidData."""
    content = read_json(path / "one_hop.json" if path.is_dir() else path, "the folder with FuncQA's one_hop.json")
    lists = [part for part in content.values() if isinstance(part, list)] if isinstance(content, dict) else [content]
    rows = next((part for part in lists if part and isinstance(part[0], dict)), [])
    try:
        return [_question(row, number) for number, row in enumerate(rows)]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise InvalidData(
            f"{str(path)!r} has no questions with answers ({error!r}); see FuncQA's one_hop.json."
        ) from error


def _question(row: Mapping[str, Any], number: int) -> Question:
    raw = str((row.get("calls") or [{}])[-1].get("raw", ""))
    found = list(_CALL.finditer(raw))
    return Question(
        id=str(row.get("id", f"q-{number}")),
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


def agreement(folder: Path) -> str:
    """A sentence: for how many of the training rows' calls our operations compute what the row says."""
    tools, written, found = operations(), 0, 0
    for row in json.loads((folder / "train.json").read_text(encoding="utf-8")):
        for text in row.get("tar_eq", ()):
            call, _, result = text.removesuffix("<eoe>").partition("=")
            written += 1
            try:
                (name, arguments), wanted = next(gold_texts([{"tar_eq": [call]}])), float(result)
                numbers = [Fraction(part.strip()) for part in arguments.split(",")]
                plain = [int(n) if n.denominator == 1 else float(n) for n in numbers]
                given = tools[name].call(dict(zip(tools[name].protocol.parameters, plain, strict=False)))
                places = 0.5 * 10.0 ** -len(result.strip().partition(".")[2]) + 1e-9
                found += close(given, wanted) or abs(given - wanted) <= places
            except (ValueError, ToolError, StopIteration, ZeroDivisionError):
                continue
    return f"training rows: the operations agree on {found} of {written} calls"


class Asked:
    """Asks one question in one arm; see `arms.Asked`."""

    def __init__(self, ask: Ask, *, seed: int) -> None:
        self.writer = Writer(ask=ask, tools=operations(), form=FUNCTION, budget=ask.prompt_tokens, seed=seed)

    def prompt(self, arm: Arm, /) -> list[Message]:
        """What all questions begin with."""
        return self.writer.messages("", arm.docs)

    def __call__(self, arm: Arm, case: Question, /) -> Row:
        """The row of a question."""
        row, call = self.writer.write(arm, case, failed=lambda made: self._result(made) is None)
        result = self._result(call) if call.valid else None
        right = isinstance(result, int | float) and case.accepts(result)
        failure = row.kind or ("refused" if result is None else "" if right else "wrong_answer")
        return replace(row, answer=None if result is None else str(result), correct=right, failure=failure)

    def _result(self, call: ReadCall) -> Json:
        """What a valid call gives; None where it has no result."""
        tool = self.writer.tools[call.tool]
        try:
            return tool.call(tool.original(call.arguments))
        except ToolError:
            return None
