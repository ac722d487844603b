"""FuncQA's 13 operations as tools that compute."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from protocols.errors import ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox

Number = int | float

_MORE = ("c", "d", "e", "f", "g", "h")
"""Arguments beyond the second of the operations that take any number of them; no question of FuncQA has so many."""
_MOST_DIGITS = 5000
"""Of a result: exact integers beyond are refused, since computing them could take for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operation:
    does: str
    compute: Callable[..., Number]
    arguments: Mapping[str, str]
    """Name → what it is."""
    schema: JsonObject = field(default_factory=lambda: {"type": "number"})
    """Of every argument."""
    last: JsonObject = field(default_factory=dict)
    """What the last argument must be besides."""
    open: bool = False
    """Whether more arguments may follow the first two."""


def operations() -> Toolbox:
    """The 13 tools, named as in the data. Calling one computes; what has no result is a `ToolError`."""
    return Toolbox(Tool(_protocol(name, one), partial(_call, one)) for name, one in _OPERATIONS.items())


def _protocol(name: str, one: _Operation) -> ToolProtocol:
    properties = {argument: {**one.schema, "description": said} for argument, said in one.arguments.items()}
    required = list(properties)
    properties[required[-1]] |= one.last
    if one.open:
        properties |= {argument: dict(one.schema) for argument in _MORE}
    return ToolProtocol(
        name=name,
        description=one.does,
        input_schema={
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
        output_schema={
            "type": "object",
            "properties": {"result": {"type": "number"}},
            "required": ["result"],
            "additionalProperties": False,
        },
        annotations=Annotations(read_only=True, destructive=False, idempotent=True),
    )


def _call(one: _Operation, arguments: JsonObject) -> Json:
    given = [arguments[name] for name in (*one.arguments, *_MORE) if name in arguments]
    numbers = [_number(value) for value in given]
    try:
        result = one.compute(*numbers)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ToolError(400, f"no result: {error}") from error
    if isinstance(result, complex) or not math.isfinite(result):
        raise ToolError(400, "no result: it is no finite real number")
    return {"result": result}


def _number(value: Json) -> Number:
    """Whole numbers as `int`, so that large results stay exact."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ToolError(400, f"{value!r} is no number")
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _add(*numbers: Number) -> Number:
    return sum(numbers) if all(isinstance(n, int) for n in numbers) else math.fsum(numbers)


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if abs(base) > 1:
            _bounded(exponent * math.log10(abs(base)))
        return int(base**exponent)
    found: Number = base**exponent
    return found


def _whole(numbers: Sequence[Number], *, least: int) -> list[int]:
    whole = [number for number in numbers if isinstance(number, int) and number >= least]
    if len(whole) != len(numbers):
        raise ValueError(f"every argument must be a whole number of at least {least}")
    return whole


def _ways(numbers: Sequence[Number], *, ordered: bool) -> int:
    total, chosen = _whole(numbers, least=0)
    if chosen > total:
        return 0
    drawn = chosen if ordered else min(chosen, total - chosen)
    _bounded(drawn * math.log10(max(total, 1)))
    return math.perm(total, drawn) if ordered else math.comb(total, drawn)


def _bounded(digits: float) -> None:
    if digits > _MOST_DIGITS:
        raise ValueError(f"it would have more than {_MOST_DIGITS:,} digits")


_WHOLE: JsonObject = {"type": "integer", "minimum": 0}

_OPERATIONS: Mapping[str, _Operation] = {
    "add": _Operation(
        does="Add numbers: the sum.",
        compute=_add,
        arguments={"a": "a number", "b": "a number to add"},
        open=True,
    ),
    "subtract": _Operation(
        does="Subtract b from a: the difference a - b.",
        compute=lambda a, b: a - b,
        arguments={"a": "what is subtracted from", "b": "what is taken away"},
    ),
    "multiply": _Operation(
        does="Multiply numbers: the product.",
        compute=lambda *numbers: math.prod(numbers),
        arguments={"a": "a number", "b": "a number to multiply by"},
        open=True,
    ),
    "divide": _Operation(
        does="Divide a by b: the quotient a / b.",
        compute=lambda a, b: a / b,
        arguments={"a": "what is divided", "b": "what it is divided by, not 0"},
    ),
    "power": _Operation(
        does="Raise a number to a power: base to the exponent.",
        compute=_power,
        arguments={"base": "the number that is multiplied by itself", "exponent": "how often"},
    ),
    "sqrt": _Operation(
        does="The square root of a number.",
        compute=math.sqrt,
        arguments={"x": "a number, not negative"},
        schema={"type": "number", "minimum": 0},
    ),
    "log": _Operation(
        does="The logarithm of a number to base 10.",
        compute=math.log10,
        arguments={"x": "a number greater than 0"},
        schema={"type": "number", "exclusiveMinimum": 0},
    ),
    "ln": _Operation(
        does="The natural logarithm of a number, to base e.",
        compute=math.log,
        arguments={"x": "a number greater than 0"},
        schema={"type": "number", "exclusiveMinimum": 0},
    ),
    "lcm": _Operation(
        does="The least common multiple of whole numbers.",
        compute=lambda *numbers: math.lcm(*_whole(numbers, least=1)),
        arguments={"a": "a whole number", "b": "another whole number"},
        schema={"type": "integer", "minimum": 1},
        open=True,
    ),
    "gcd": _Operation(
        does="The greatest common divisor of whole numbers.",
        compute=lambda *numbers: math.gcd(*_whole(numbers, least=0)),
        arguments={"a": "a whole number", "b": "another whole number"},
        schema=_WHOLE,
        open=True,
    ),
    "remainder": _Operation(
        does="What is left over when a is divided by b (a modulo b).",
        compute=lambda a, b: a % b,
        arguments={"a": "the whole number that is divided", "b": "the whole number that it is divided by"},
        schema={"type": "integer"},
        last={"minimum": 1},
    ),
    "choose": _Operation(
        does="In how many ways k of n things can be picked where their order does not matter (combinations).",
        compute=lambda *numbers: _ways(numbers, ordered=False),
        arguments={"n": "how many things there are", "k": "how many are picked"},
        schema=_WHOLE,
    ),
    "permutate": _Operation(
        does="In how many ways k of n things can be arranged where their order matters (permutations).",
        compute=lambda *numbers: _ways(numbers, ordered=True),
        arguments={"n": "how many things there are", "k": "how many are arranged"},
        schema=_WHOLE,
    ),
}
