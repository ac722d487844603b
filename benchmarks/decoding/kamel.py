"""KAMEL: is the right relation called, by its name alone or with all relations described, the more there are?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from atc.decode.read import ReadCall
from benchmarks.decoding.arms import Asked, Case
from benchmarks.runner import InvalidData, read_json
from protocols.ask import Ask
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool, Toolbox

FOLDER = Path("../shared/data/kamel")
RELATIONS = (10, 20, 30)
QUESTIONS = 100
"""Of each test, where no sample is given."""
ARMS = [("calls", "names"), ("free", "full"), ("calls", "full")]
_DOCUMENTATION = 7000
"""Tokens: all 234 relations, described, fit a context of 8,192."""
_SIGNATURE = re.compile(r"\s*(?P<name>[^\s(:]+)\s*\((?P<arguments>[^)]*)\)\s*:?\s*(?P<does>.*)", re.DOTALL)
_COMMON_WORDS = """
a an and any are as at been by for from gets given has have in into is it its list name of on or originally provides
retrieves that the their to was were when where which who with
"""
_COMMON = frozenset(_COMMON_WORDS.split())


class Relation(NamedTuple):
    """A relation as the data describe it: `name(arguments): does`."""

    id: str
    name: str
    arguments: tuple[str, ...]
    does: str


class Kamel(NamedTuple):
    """The relations in their order, and tests by how many they are about; a case's `gold` is a relation's id."""

    relations: list[Relation]
    tests: Mapping[int, list[Case]]

    def test(self, count: int) -> list[Case]:
        """The test over the first `count` relations: its own, else the largest that asks of no others."""
        known = {relation.id for relation in self.relations[:count]}
        fitting = [size for size, cases in self.tests.items() if all(set(case.gold) <= known for case in cases)]
        if count > len(self.relations) or not fitting:
            raise InvalidData(f"no test asks of the first {count} of {len(self.relations)} relations alone.")
        return self.tests[count if count in fitting else max(fitting)]


def read_kamel(folder: Path) -> Kamel:
    """The relations and tests of `relations_dev.json`. Raises InvalidData: it cannot be read."""
    content = read_json(folder / "relations_dev.json", "the folder with KAMEL's relations_dev.json")
    tests = {int(size): [_case(n, row) for n, row in enumerate(rows)] for size, rows in content["tests"].items()}
    return Kamel([_relation(id_, said) for id_, said in content["api_desc"].items()], tests)


def _relation(id_: str, said: str) -> Relation:
    found = _SIGNATURE.fullmatch(said)
    assert found is not None, said
    arguments = dict.fromkeys(part.strip() for part in found["arguments"].split(",") if part.strip())
    return Relation(id_, found["name"], tuple(arguments), " ".join(found["does"].split()))


def _case(number: int, row: Mapping[str, Any]) -> Case:
    return Case(id=f"q-{number}", question=" ".join(row["question"].split()), gold=(row["api"],))


def unique_names(relations: Sequence[Relation]) -> dict[str, str]:
    """A name for each relation's id, none twice: of several called alike, each takes a word of its description that no
    other of them has, else a number.
    """
    names: dict[str, str] = {}
    for relation in relations:
        others = [one for one in relations if one.name == relation.name and one != relation]
        used = {word for one in others for word in _words(one)}
        telling = [word for word in _words(relation) if word not in used]
        wanted = [f"{relation.name}_{word}" for word in (*telling, *range(1, 1 + len(relations)))]
        names[relation.id] = next(one for one in wanted if one not in names.values()) if others else relation.name
    return names


def _words(relation: Relation) -> list[str]:
    """The words of a description that say something, in order; those of the name say nothing new."""
    known = set(re.findall(r"[a-z0-9]+", relation.name.lower())) | _COMMON
    return [word for word in re.findall(r"[a-z0-9]+", relation.does.lower()) if word not in known]


class Relations(Asked):
    """Right is a call of the gold relation, whatever its arguments."""

    def __init__(self, ask: Ask, relations: Sequence[Relation], *, seed: int) -> None:
        names = unique_names(relations)
        tools = Toolbox(Tool(_protocol(relation, names[relation.id]), dict) for relation in relations)
        super().__init__(ask, tools, budget=max(ask.prompt_tokens, _DOCUMENTATION), seed=seed)
        of_name = {tool.protocol.name: alias for alias, tool in tools.items()}
        self._aliases = {id_: of_name[name] for id_, name in names.items()}

    def answer(self, call: ReadCall) -> Json:
        """The relation that is called."""
        return call.tool or None

    def accepts(self, case: Case, answer: Json) -> bool:
        """Whether a relation is the case's."""
        return answer in {self._aliases[id_] for id_ in case.gold}


def _protocol(relation: Relation, name: str) -> ToolProtocol:
    properties = {argument: {"type": "string", "minLength": 1} for argument in relation.arguments}
    closed = {"type": "object", "properties": properties, "additionalProperties": False}
    return ToolProtocol(name=name, description=relation.does, input_schema={**closed, "required": list(properties)})
