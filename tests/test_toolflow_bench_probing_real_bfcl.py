"""BFCL's classes as sources, with a package of the same layout in the place of the real one."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")

from protocols.errors import SourceUnavailable
from toolflow_bench.probing import bfcl_classes
from toolflow_bench.probing.bfcl import PART, measure_class
from toolflow_bench.probing.bfcl_classes import INSTALL, BfclClass, census, declared, tasks
from toolflow_bench.probing.part import Options, run_part

LAMP = """
class Lamp:
    def __init__(self):
        self.level = None

    def _load_scenario(self, scenario, long_context=False):
        self.level = scenario.get("level", 0)

    def get_level(self):
        return {"level": self.level}

    def dim(self, level: int):
        if not isinstance(level, int):
            return {"error": "level must be an integer"}
        self.level = level
        return {"level": self.level, "changed": True}

    def smash(self):
        raise RuntimeError("no")
"""
DOCUMENT = [
    {"name": "get_level", "parameters": {"type": "dict", "properties": {}, "required": []},
     "response": {"type": "dict", "properties": {"level": {"type": "float"}, "unit": {"type": "string"}}}},
    {"name": "dim", "parameters": {"type": "dict", "properties": {"level": {"type": "integer"}}, "required": ["level"]},
     "response": {"type": "dict", "properties": {"level": {"type": "integer"}}}},
    {"name": "smash", "parameters": {"type": "dict", "properties": {"how": {"type": "tuple", "items": {"type": "any"}}},
     "required": []}},
]  # fmt: skip
TASKS = [
    {"id": "t0", "involved_classes": ["Lamp"], "initial_config": {"Lamp": {"level": 3}}},
    {"id": "t1", "involved_classes": ["Other"], "initial_config": {}},
    {"id": "t2", "involved_classes": ["Lamp", "Other"], "initial_config": {"Lamp": {"level": 10, "room": "hall"}}},
]
ANSWERS = [
    {"id": "t0", "ground_truth": [["dim(5)", "get_level()"], ["unknown(level=1)"]]},
    {"id": "t1", "ground_truth": [["get_level()"]]},
    {"id": "t2", "ground_truth": [["get_level()", "dim(level='dark')"]]},
]
THE_LAMP = BfclClass("Lamp", "lamp")


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(name="package")
def _package(tmp_path, monkeypatch):
    root = tmp_path / "site" / "bfcl_eval"
    code = root.joinpath(*bfcl_classes._CODE.split(".")[1:])
    code.mkdir(parents=True)
    (code / "lamp.py").write_text(LAMP)
    for folder, name, rows in (
        ("multi_turn_func_doc", "lamp", DOCUMENT),
        (".", "BFCL_v4_multi_turn_base", TASKS),
        ("possible_answer", "BFCL_v4_multi_turn_base", ANSWERS),
    ):
        (root / "data" / folder).mkdir(parents=True, exist_ok=True)
        (root / "data" / folder / f"{name}.json").write_text(lines(rows))
    (root / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(root.parent))
    importlib.invalidate_caches()
    bfcl_classes._read.cache_clear()
    yield root
    for name in [name for name in sys.modules if name.partition(".")[0] == "bfcl_eval"]:
        del sys.modules[name]
    bfcl_classes._read.cache_clear()


def test_where_the_package_is_not_there_the_part_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setattr(bfcl_classes, "find_spec", lambda _name: None)
    measured = run_part(PART, Options(out=tmp_path))
    assert dict(measured.rows) == {}
    assert measured.lines() == [f"skipped  bfcl: the package 'bfcl-eval' is not installed: {INSTALL}"]
    with pytest.raises(SourceUnavailable, match="pip install"):
        declared(THE_LAMP)


def test_documents_in_their_own_words_become_schemas(package):
    level, dim, smash = declared(THE_LAMP)
    assert level.output_schema == {
        "type": "object",
        "properties": {"level": {"type": "number"}, "unit": {"type": "string"}},
    }
    assert (dim.required, dim.parameters) == (frozenset({"level"}), {"level": {"type": "integer"}})
    assert smash.parameters == {"how": {"type": "array", "items": {}}}
    assert smash.output_schema is None


def test_the_census_makes_the_calls_of_the_tasks_in_their_states(package):
    assert [task.scenario for task in tasks(THE_LAMP)] == [{"level": 3}, {"level": 10, "room": "hall"}]
    found = census(THE_LAMP, 100)
    assert [one.response for one in found["get_level"]] == [{"level": 5}, {"level": 5}, {"level": 10}, {"level": 3}]
    assert [one.arguments for one in found["dim"]] == [{"level": 5}] * 2 + [{"level": "dark"}] * 2
    assert found["dim"][2].response == {"error": "level must be an integer"}
    assert {one.done for one in found["smash"]} == {False}
    assert sum(map(len, census(THE_LAMP, 2).values())) == 2 + len(found["smash"])


def test_a_class_that_cannot_be_imported_says_what_to_install(package):
    (package.joinpath(*bfcl_classes._CODE.split(".")[1:]) / "lamp.py").write_text("import no_such_thing_at_all")
    with pytest.raises(SourceUnavailable, match=r"Lamp cannot be imported .*no_such_thing_at_all"):
        census(THE_LAMP, 10)


def test_a_class_is_probed_and_its_document_held_against_it(package, tmp_path):
    row = measure_class(THE_LAMP, "names", Options(out=tmp_path / "out", per_tool=6, census=20))
    assert (row["name"], row["tools"], row["described"]) == ("Lamp", 3, 2)
    assert row["score"]["documented"] == {"right": 2, "of": 3, "share": 0.6667}
    told = {(one["tool"], one["where"]) for one in row["departures"]}
    assert ("get_level", "unit") in told
    assert ("dim", "changed: boolean") in told
    assert row["calls"]["max"] <= 6
