"""The suites FuncQA and KAMEL.

FuncQA: arithmetic word problems, each of which one call of 13 operations answers. A result is right
if it deviates by at most 0.1% (as in table 4 of the ToolDec paper). KAMEL: questions for which the
model must choose the right relation among many, from their names alone or with descriptions.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from atc.models.decode.parse import ReadCall
from benchmarks.decoding.arms import CallSuite, DecodingCase
from benchmarks.runner import InvalidData, read_json
from protocols.errors import ToolError
from protocols.model import Ask
from protocols.protocol import ToolProtocol, load
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox

FUNCQA = Path("../shared/data/funcqa")
KAMEL = Path("../shared/data/kamel")
FUNCQA_ARMS = [
    (mode, docs) for docs in ("full", "names") for mode in ("free", "calls", "fuzzy", "backtrack")
]
KAMEL_ARMS = [("calls", "names"), ("free", "full"), ("calls", "full")]
RELATIONS = (10, 20, 30)
KAMEL_QUESTIONS = 100
"""Default number of relations in KAMEL's tests, and of questions drawn from each test."""
_DOCUMENTATION = 7000
"""Number of tokens of documentation in a prompt.

The descriptions of all 234 relations then fit into a context of 8,192 tokens.
"""
_MOST_DIGITS = 5000  # longer integers are refused, since computing them could take for ever
_CALL = re.compile(r"<?(\w+)>?\(([^()]*)\)")
_SIGNATURE = re.compile(
    r"\s*(?P<name>[^\s(:]+)\s*\((?P<arguments>[^)]*)\)\s*:?\s*(?P<does>.*)", re.DOTALL
)
_COMMON_WORDS = """
a an and any are as at been by for from gets given has have in into is it its list name of on or
originally provides retrieves that the their to was were when where which who with
"""
_COMMON = frozenset(_COMMON_WORDS.split())


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
    "remainder": operator.mod,
    "power": _power,
    "sqrt": math.sqrt,
    "log": math.log10,
    "ln": math.log,
    "lcm": math.lcm,
    "gcd": math.gcd,
    "choose": partial(_ways, math.comb),
    "permutate": partial(_ways, math.perm),
}


def operations() -> Toolbox:
    """Return FuncQA's 13 tools.

    A call of a tool computes its result, or raises `ToolError` if it has no result.
    """
    documents = json.loads(Path(__file__).with_name("operations.json").read_text(encoding="utf-8"))
    return Toolbox(Tool(one, partial(_compute, one)) for one in map(load, documents))


def _compute(protocol: ToolProtocol, arguments: JsonObject) -> Json:
    given = [arguments[name] for name in protocol.parameters if name in arguments]
    numbers = [
        int(n) if isinstance(n, float) and n.is_integer() and abs(n) < 2**53 else n for n in given
    ]
    try:
        result = _WAYS[protocol.name](*numbers)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise ToolError(400, f"no result: {error}") from error
    if isinstance(result, complex) or not math.isfinite(result):
        raise ToolError(400, "no result: it is no finite real number")
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberQuestion(DecodingCase):
    """A question whose answer is a number.

    `negated` is True if the data has a minus sign before the gold call. Then either sign is right.
    """

    negated: bool = False


def read_funcqa(folder: Path) -> list[NumberQuestion]:
    """Read the questions of `one_hop.json`.

    Raises:
        InvalidData: the file cannot be read.
    """
    rows = read_json(folder / "one_hop.json", "the folder with FuncQA's one_hop.json")["one_hop"]
    return [_question(row) for row in rows]


def _question(row: Mapping[str, Any]) -> NumberQuestion:
    raw = row["calls"][-1].get("raw", "")
    found = list(_CALL.finditer(raw))
    return NumberQuestion(
        id=row["id"],
        question=" ".join(row["question"].split()),
        expected=float(str(row["answer"]).replace(",", "")),
        gold=tuple(name for name, _ in gold_texts([row])),
        negated=bool(found) and raw[: found[-1].start()].rstrip().endswith("-"),
    )


def gold_texts(rows: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and the arguments, as text, of each gold call in FuncQA's rows.

    `rows` are training rows or questions, which differ in their fields.
    """
    for row in rows if isinstance(rows, list) else rows["one_hop"]:
        for written in row.get("tar_eq", ()):
            if found := _CALL.match(written):
                yield found[1], found[2]
        for call in row.get("calls", ()):
            if "name" in call:
                yield call["name"], ", ".join(call["args"])
            elif found := _CALL.search(call["raw"]):
                yield found[1], found[2]


class FuncQa(CallSuite):
    """The suite FuncQA: a call is right if it is valid and its result is the expected answer."""

    def __init__(self, ask: Ask, *, seed: int) -> None:
        super().__init__(ask, operations(), budget=ask.prompt_tokens, seed=seed)

    def answer(self, call: ReadCall) -> Json:
        """Return the result of a call, or None if the call is invalid or has no result."""
        if not call.is_valid:
            return None
        tool = self.tools[call.tool]
        try:
            return tool.call(tool.original_arguments(call.arguments))
        except ToolError:
            return None

    def accepts(self, case: NumberQuestion, answer: Json) -> bool:
        wanted = float(case.expected)
        return any(
            abs(sign * answer - wanted) <= 0.001 * abs(wanted)
            for sign in ((1, -1) if case.negated else (1,))
        )


class Relation(NamedTuple):
    """A relation of KAMEL's data: its name, its arguments, and a sentence (`does`) about it."""

    id: str
    name: str
    arguments: tuple[str, ...]
    does: str


class Kamel(NamedTuple):
    """KAMEL's relations in order, and its tests.

    A test is a list of cases, keyed by the number of relations among which each case chooses. The
    `gold` of a case is the id of the right relation.
    """

    relations: list[Relation]
    tests: Mapping[int, list[DecodingCase]]

    def test(self, count: int) -> list[DecodingCase]:
        """Return the test whose right answers are among the first `count` relations.

        If no test has that size, return the largest test that needs no other relations.

        Raises:
            InvalidData: there is no such test.
        """
        known = {relation.id for relation in self.relations[:count]}
        fitting = []
        for size, cases in self.tests.items():
            needed = {one for case in cases for one in case.gold}
            if needed <= known:
                fitting.append(size)
        if count > len(self.relations) or not fitting:
            raise InvalidData(
                f"no test asks of the first {count} of {len(self.relations)} relations alone."
            )
        return self.tests[count if count in fitting else max(fitting)]


def read_kamel(folder: Path) -> Kamel:
    """Read the relations and tests of `relations_dev.json`.

    Raises:
        InvalidData: the file cannot be read.
    """
    content = read_json(folder / "relations_dev.json", "the folder with KAMEL's relations_dev.json")
    relations = []
    for id_, described in content["api_desc"].items():
        found = _SIGNATURE.fullmatch(described)
        assert found is not None, described
        arguments = dict.fromkeys(
            part.strip() for part in found["arguments"].split(",") if part.strip()
        )
        relations.append(
            Relation(id_, found["name"], tuple(arguments), " ".join(found["does"].split()))
        )
    tests = {}
    for size, rows in content["tests"].items():
        asked = [
            (f"q-{number}", " ".join(row["question"].split()), row["api"])
            for number, row in enumerate(rows)
        ]
        tests[int(size)] = [
            DecodingCase(id=id_, question=question, gold=(api,)) for id_, question, api in asked
        ]
    return Kamel(relations, tests)


def unique_names(relations: Sequence[Relation]) -> dict[str, str]:
    """Return a unique name for each relation, keyed by the relation's id.

    If relations have the same name, a word is added to each that occurs only in its own
    description.
    """
    names: dict[str, str] = {}
    for relation in relations:
        others = [one for one in relations if one.name == relation.name and one != relation]
        used = {word for one in others for word in _words(one)}
        telling = [word for word in _words(relation) if word not in used]
        wanted = [f"{relation.name}_{word}" for word in (*telling, *range(1, 1 + len(relations)))]
        names[relation.id] = (
            next(one for one in wanted if one not in names.values()) if others else relation.name
        )
    return names


def _words(relation: Relation) -> list[str]:
    """Return the words of a relation's description in order.

    Common words and the words of the relation's name are left out.
    """
    known = set(re.findall(r"[a-z0-9]+", relation.name.lower())) | _COMMON
    return [word for word in re.findall(r"[a-z0-9]+", relation.does.lower()) if word not in known]


class Relations(CallSuite):
    """The suite KAMEL: a call is right if it calls the gold relation, with any arguments."""

    def __init__(self, ask: Ask, relations: Sequence[Relation], *, seed: int) -> None:
        names = unique_names(relations)
        tools = Toolbox(
            Tool(_protocol(relation, names[relation.id]), dict) for relation in relations
        )
        super().__init__(ask, tools, budget=max(ask.prompt_tokens, _DOCUMENTATION), seed=seed)
        of_name = {tool.protocol.name: alias for alias, tool in tools.items()}
        self._aliases = {id_: of_name[name] for id_, name in names.items()}

    def answer(self, call: ReadCall) -> Json:
        """Return the relation of the knowledge graph that the call names; None if it names none."""
        return call.tool or None

    def accepts(self, case: DecodingCase, answer: Json) -> bool:
        return answer in {self._aliases[id_] for id_ in case.gold}


def _protocol(relation: Relation, name: str) -> ToolProtocol:
    properties = {argument: {"type": "string", "minLength": 1} for argument in relation.arguments}
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    return ToolProtocol(
        name=name, description=relation.does, input_schema={**closed, "required": list(properties)}
    )
