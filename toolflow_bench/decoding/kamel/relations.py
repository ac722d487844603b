"""KAMEL's relations as tools, and its questions with the relation that answers each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocols.errors import ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.decoding.data import InvalidDecodingData, read_json
from toolflow_bench.decoding.frame import Case

_EXPECTED = "KAMEL's relations and tests (relations_dev.json)"
_SIGNATURE = re.compile(r"\s*(?P<name>[^\s(:]+)\s*\((?P<arguments>[^)]*)\)\s*:?\s*(?P<does>.*)", re.DOTALL)
_COMMON_WORDS = """
a an and any are as at been by for from gets given has have in into is it its list name of on or originally provides
retrieves that the their to was were when where which who with
"""
_COMMON = frozenset(_COMMON_WORDS.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation as the data describe it: `name(arguments): does`."""

    id: str
    name: str
    arguments: tuple[str, ...]
    does: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kamel:
    """A file's relations in their order, and its tests by how many of the relations they are about."""

    relations: tuple[Relation, ...]
    tests: Mapping[int, tuple[Case, ...]]
    """The `gold` of a case is the relation's id."""

    def test(self, count: int) -> tuple[int, tuple[Case, ...]]:
        """The test over the first `count` relations: its own, else the largest that asks of no others.

        Raises:
            InvalidDecodingData: there are fewer relations, or no test about so few.
        """
        if count > len(self.relations):
            raise InvalidDecodingData(
                f"there are {len(self.relations)} relations, not {count}; give --relations fewer."
            )
        known = {relation.id for relation in self.relations[:count]}
        fitting = [size for size, cases in self.tests.items() if all(set(case.gold) <= known for case in cases)]
        if not fitting:
            raise InvalidDecodingData(f"no test asks of the first {count} relations alone; give --relations more.")
        size = count if count in fitting else max(fitting)
        return size, self.tests[size]

    def toolbox(self, count: int) -> tuple[Toolbox, dict[str, str]]:
        """The first `count` relations as tools, and each relation's id with its tool's alias.

        Where several are called alike, each takes a word of its description that no other of them has.
        """
        chosen = self.relations[:count]
        names = unique_names(chosen)
        tools = Toolbox(Tool(_protocol(relation, names[relation.id]), _nothing) for relation in chosen)
        aliases = {tool.protocol.name: alias for alias, tool in tools.items()}
        return tools, {relation.id: aliases[names[relation.id]] for relation in chosen}


def unique_names(relations: Sequence[Relation]) -> dict[str, str]:
    """A name for each relation's id, none twice."""
    by_name: dict[str, list[Relation]] = {}
    for relation in relations:
        by_name.setdefault(relation.name, []).append(relation)
    taken = set(by_name)
    names: dict[str, str] = {}
    for name, some in by_name.items():
        if len(some) == 1:
            names[some[0].id] = name
            continue
        told = Counter(word for relation in some for word in set(_words(relation)))
        for number, relation in enumerate(some, start=1):
            own = [word for word in _words(relation) if told[word] == 1]
            wanted = [f"{name}_{word}" for word in own] + [f"{name}_{number}"]
            numbered = (f"{name}_{extra}" for extra in range(len(some) + 1, len(some) + len(taken) + 2))
            chosen = next((each for each in wanted if each not in taken), None) or next(
                each for each in numbered if each not in taken
            )
            taken.add(chosen)
            names[relation.id] = chosen
    return names


def _words(relation: Relation) -> list[str]:
    """The words of a description that say something, in order; those of the name say nothing new."""
    known = set(re.findall(r"[a-z0-9]+", relation.name.lower()))
    return [word for word in re.findall(r"[a-z0-9]+", relation.does.lower()) if word not in known | _COMMON]


def _protocol(relation: Relation, name: str) -> ToolProtocol:
    return ToolProtocol(
        name=name,
        description=relation.does,
        input_schema={
            "type": "object",
            "properties": {argument: {"type": "string", "minLength": 1} for argument in relation.arguments},
            "required": list(relation.arguments),
            "additionalProperties": False,
        },
        annotations=Annotations(read_only=True, destructive=False, idempotent=True),
    )


def _nothing(_arguments: JsonObject) -> Json:
    raise ToolError(501, "no relation is looked up; only which one is called counts")


def read_kamel(path: Path) -> Kamel:
    """The relations and tests of a file, or of `relations_dev.json` in a folder.

    Raises:
        InvalidDecodingData: it is missing, or is not what it should be.
    """
    file = path / "relations_dev.json" if path.is_dir() else path
    content = read_json(file, expected=_EXPECTED)
    if not isinstance(content, Mapping) or not isinstance(content.get("api_desc"), Mapping):
        raise InvalidDecodingData(f"{str(file)!r} has no relations under 'api_desc'; it should be as {_EXPECTED}.")
    relations = tuple(_relation(str(id_), said, file) for id_, said in content["api_desc"].items())
    tests = content.get("tests")
    if not isinstance(tests, Mapping) or not all(str(size).isdigit() for size in tests):
        raise InvalidDecodingData(f"{str(file)!r} has no tests by number of relations; it should be as {_EXPECTED}.")
    known = {relation.id for relation in relations}
    found = {int(size): tuple(_case(row, n, known, file) for n, row in enumerate(rows)) for size, rows in tests.items()}
    return Kamel(relations=relations, tests=found)


def _relation(id_: str, said: Any, file: Path) -> Relation:
    found = _SIGNATURE.fullmatch(str(said))
    if found is None:
        raise InvalidDecodingData(f"{str(file)!r}: {id_} is described by {said!r}; it should be 'name(args): text'.")
    arguments = tuple(dict.fromkeys(part.strip() for part in found["arguments"].split(",") if part.strip()))
    return Relation(id=id_, name=found["name"], arguments=arguments, does=" ".join(found["does"].split()))


def _case(row: Any, number: int, known: set[str], file: Path) -> Case:
    if not isinstance(row, Mapping) or not isinstance(row.get("question"), str) or row.get("api") not in known:
        raise InvalidDecodingData(
            f"{str(file)!r}: question {number} must have 'question' and 'api', a relation of the file; got {row!r:.80}."
        )
    return Case(id=f"q-{number}", question=" ".join(row["question"].split()), gold=(str(row["api"]),))
