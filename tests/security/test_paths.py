"""A path argument reaches no other operation, whatever a response, a model or a task puts into it."""

import json
from contextlib import contextmanager
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from atc import Agent, Config, load_tools
from atc.models.scripted import ScriptedModel

TEXT = {"type": "string"}
LEADING_ELSEWHERE = [
    "7/delete",
    "7%2Fdelete",
    "7%252fdelete",
    "../admin",
    "..",
    "%2e%2e",
    "..;x",
    "7\\delete",
    "7%5Cdelete",
    "7\uff0fdelete",
    "%u002e%u002e",
    "7%c0%afdelete",
    ["7", "8/delete"],
]
SHOWN_BY = {
    "its name": ("file_path", TEXT, "/items/{file_path}"),
    "an example": ("id", {**TEXT, "examples": ["heads/main"]}, "/items/{id}"),
    "an enum": ("id", {**TEXT, "enum": ["a", "docs/readme"]}, "/items/{id}"),
    "a pattern": ("id", {**TEXT, "pattern": "^[a-z]+(/[a-z]+)*$"}, "/items/{id}"),
    "a reserved variable": ("id", TEXT, "/items/{+id}"),
    "a variable of a framework": ("id", TEXT, "/items/{id:path}"),
    "its format": ("id", {**TEXT, "format": "uri-reference"}, "/items/{id}"),
    "its description": (
        "id",
        {**TEXT, "description": "The URL-encoded path of the item."},
        "/items/{id}",
    ),
    "a sample in its description": (
        "id",
        {**TEXT, "description": "Such as `heads/main`."},
        "/items/{id}",
    ),
    "a mark of the user": ("id", {**TEXT, "x-atc-path": True}, "/items/{id}"),
}


class _Quiet(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


@contextmanager
def wsgi_service(items):
    """A service whose server decodes a path before it chooses the operation, as WSGI has it."""
    seen = []

    def answer(environment, start):
        seen.append(environment["PATH_INFO"])
        start("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(items if environment["PATH_INFO"] == "/items" else {}).encode()]

    with make_server("127.0.0.1", 0, answer, handler_class=_Quiet) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()


def run(tmp_path, items, path="/items/{id}", name="id", schema=None):
    """Run a program that gives each item that one tool lists to another; return the paths that came."""
    parameter = {"name": name, "in": "path", "required": True, "schema": schema or TEXT}
    done = {"responses": {"200": {"description": "ok"}}}
    with wsgi_service(items) as (url, seen):
        document = {
            "openapi": "3.1.0",
            "info": {"title": "items", "version": "1"},
            "servers": [{"url": url}],
            "paths": {
                "/items": {
                    "get": {"operationId": "list_items", "description": "List items.", **done}
                },
                path: {
                    "get": {
                        "operationId": "get_item",
                        "description": "Get an item.",
                        "parameters": [parameter],
                        **done,
                    }
                },
            },
        }
        file = tmp_path / "items.json"
        file.write_text(json.dumps(document))
        program = f"for item in list_items():\n    print(get_item({name}=item))"
        model = ScriptedModel(f"```python\n{program}\n```")
        config = Config(samples=1, strategy="chain", max_repairs=0, state_dir=tmp_path / "state")
        with Agent(load_tools(str(file)), model=model, config=config) as agent:
            solution = agent.run("Get each.", observer=lambda event: None)
    return seen, solution


@pytest.mark.parametrize("value", LEADING_ELSEWHERE, ids=repr)
def test_response_values_reach_no_other_path(tmp_path, value):
    schema = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}
    seen, solution = run(tmp_path, [value], schema=schema)
    assert seen == ["/items"]
    assert "argument 'id'" in solution.attempts[-1].trace.calls[-1].error


@pytest.mark.parametrize("how", SHOWN_BY)
def test_a_slash_passes_where_the_document_shows_one(tmp_path, how):
    name, schema, path = SHOWN_BY[how]
    seen, _ = run(tmp_path, ["docs/readme"], path=path, name=name, schema=schema)
    assert seen == ["/items", "/items/docs/readme"]


@pytest.mark.parametrize("how", SHOWN_BY)
def test_no_document_lets_a_dot_segment_pass(tmp_path, how):
    name, schema, path = SHOWN_BY[how]
    schema = {key: value for key, value in schema.items() if key not in ("enum", "pattern")}
    seen, _ = run(tmp_path, ["docs/../../admin"], path=path, name=name, schema=schema)
    assert seen == ["/items"]


SHOWN_BY_ACCIDENT = {
    "a pattern that excludes it": ("id", {**TEXT, "pattern": "^(?!.*(/|x)y)[^/].+$"}),
    "a sample of another shape": ("id", {**TEXT, "examples": ["2024/7", "n/a"]}),
    "a media type": ("id", {**TEXT, "description": "Sent as 'application/json' or 'n/a'."}),
    "a name that ends alike": ("xpath", TEXT),
    "a default": ("id", {**TEXT, "default": "a/b"}),
}


@pytest.mark.parametrize("how", SHOWN_BY_ACCIDENT)
def test_an_accidental_slash_proves_nothing(tmp_path, how):
    name, schema = SHOWN_BY_ACCIDENT[how]
    seen, _ = run(tmp_path, ["7/delete"], path=f"/items/{{{name}}}", name=name, schema=schema)
    assert seen == ["/items"]
