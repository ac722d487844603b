"""Calls of a program over HTTP: pages that are interrupted, and headers."""

from __future__ import annotations

import json

from benchmarks.paging.services import WAYS, serve
from protocols.client import Invoker
from protocols.sources.openapi import read_openapi
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.journal_entries import RecordedCall
from sandbox.limits import Limits

READ = "rows = [r for page in pages(list_items) for r in page]\n"


def tools_of(service, way, invoker):
    document = json.loads(json.dumps(way.document(service.address)))
    (protocol,) = read_openapi(document, where=f"{service.address}/openapi.json")
    return Toolbox([Tool(protocol, invoker.bind(protocol))])


def test_a_resumed_run_repeats_no_page(sandbox):
    """The program ends after two of three pages; another process goes on with the stored calls."""
    for way in WAYS[:2]:
        with serve(way, 130) as service, Invoker() as invoker:
            tools = tools_of(service, way, invoker)
            stored = []

            def sink(execution, call, complete, stored=stored):
                if complete:
                    stored.append(RecordedCall(execution=execution, call=call))

            limits = Limits(tool_calls=2)
            ended = sandbox.run(READ, tools, limits=limits, journal=Journal(sink=sink))
            assert ended.failure.type == "tool_calls"
            assert len(service.seen) == 2
            journal = Journal()
            journal.restore(stored, tools)
            source = f"{READ}print(len(rows), len({{r['id'] for r in rows}}))"
            trace = sandbox.run(source, tools, limits=Limits(), journal=journal)
            assert trace.stdout == "130 130\n", trace.failure
            assert len(service.seen) == len(set(service.seen)) == len(trace.calls)
            assert [call.reused for call in trace.calls[:3]] == [True, True, False]


def test_a_program_writes_header_names_in_any_case(sandbox):
    source = (
        "_, headers = with_headers(list_items)\n"
        "print(headers['X-Total-Count'], headers.get('X-TOTAL-COUNT'), 'Link' in headers)"
    )
    with serve(WAYS[3], 60) as service, Invoker() as invoker:
        tools = tools_of(service, WAYS[3], invoker)
        trace = sandbox.run(source, tools, limits=Limits(), journal=Journal())
    assert trace.stdout == "60 60 False\n", trace.failure


def test_headers_reach_the_program_and_the_journal(sandbox):
    source = "value, headers = with_headers(list_items)\nprint(len(value), headers)"
    with serve(WAYS[3], 60) as service, Invoker() as invoker:
        tools = tools_of(service, WAYS[3], invoker)
        journal = Journal()
        for _ in range(2):
            trace = sandbox.run(source, tools, limits=Limits(), journal=journal)
            assert trace.stdout == "50 {'x-total-count': '60'}\n", trace.failure
            assert trace.calls[0].headers == {"x-total-count": "60"}
        assert len(service.seen) == 1
