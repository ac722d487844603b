"""Findings that rest on weak evidence about a response are notes: they stop no program."""

from dataclasses import replace

import pytest

from atc.core.program import Program
from atc.pipeline.check import check
from protocols.protocol import Evidence
from protocols.sources import load_tools
from protocols.toolbox import Toolbox
from tests.labs.tools import record, tool

DOCUMENT = """
openapi: 3.0.3
info: {title: tasks, version: "1"}
servers: [{url: "http://127.0.0.1:9"}]
paths:
  /tasks:
    get:
      operationId: list_tasks
      parameters:
        - {name: opt_fields, in: query, schema: {type: string}}
        - {name: limit, in: query, schema: {type: integer}}
      responses:
        200: {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Tasks"}}}}
        202: {description: wait, content: {application/json: {schema: {$ref: "#/components/schemas/Job"}}}}
  /open:
    get:
      operationId: get_open
      responses:
        default: {description: "All of it", content: {application/json: {schema: {type: object,
          properties: {merchant_name: {type: string}}, additionalProperties: true}}}}
  /broken:
    get:
      operationId: get_broken
      responses:
        default: {description: "Unexpected error", content: {application/json: {schema: {type: object,
          properties: {reason: {type: string}}}}}}
components:
  schemas:
    Tasks: {type: object, required: [state], properties: {state: {enum: [open, done]}, id: {type: string}}}
    Job: {type: object, required: [job], properties: {job: {type: string}}}
"""


@pytest.fixture
def tools(tmp_path):
    file = tmp_path / "tasks.yaml"
    file.write_text(DOCUMENT)
    return load_tools(str(file))


@pytest.mark.parametrize(
    ("program", "certain", "notes"),
    [
        ('print(list_tasks()["due"])', ["due"], []),
        ('print(list_tasks(limit=5)["due"])', ["due"], []),
        ('print(list_tasks(opt_fields="due")["due"])', [], ["due"]),
        ('print(list_tasks(opt_fields="id")["id"]["name"])', [], ["name"]),
        ('print(list_tasks()["job"])', [], []),
        ('print(list_tasks()["state"] == "gone")', [], ["gone"]),
        ('print(get_open()["merchant_nam"])', [], ["merchant_name"]),
        ('print(get_open()["request_id"])', [], []),
        ('print(get_broken()["items"])', [], []),
    ],
)
def test_weak_evidence_gives_notes(tools, program, certain, notes):
    found = check(Program(program), tools)
    for is_certain, words in ((True, certain), (False, notes)):
        messages = [finding.message for finding in found if finding.certain is is_certain]
        assert len(messages) == len(words)
        assert all(word in message for word, message in zip(words, messages, strict=True))


def test_a_default_error_stays_documented(tools):
    outcomes = tools["get_broken"].protocol.errors
    assert [(outcome.status, outcome.description) for outcome in outcomes] == [
        ("default", "Unexpected error")
    ]


def test_what_was_only_observed_stops_no_program():
    seen = tool("fetch", lambda: None, output=record(name="string", version="string"))
    protocol = replace(seen.protocol, evidence=Evidence(level="observed"))
    box = Toolbox([replace(seen, protocol=protocol)])
    found = check(Program("print(fetch().splitlines())"), box)
    assert [finding.certain for finding in found] == [False]
