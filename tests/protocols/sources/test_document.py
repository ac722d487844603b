"""Bare descriptions: a name and a request, arguments perhaps, a sentence perhaps."""

import json
import textwrap

import pytest

from protocols.errors import InvalidProtocol, SourceUnavailable
from protocols.http.request import RequestBuilder
from protocols.protocol import Annotations, HttpBinding
from protocols.sources import load_source, load_tools

HOST = "https://a.example"


def read(tmp_path, document, name="tools.json", **more):
    text = document if isinstance(document, str) else json.dumps(document)
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / name).write_text(textwrap.dedent(text))
    return {
        tool.protocol.name: tool.protocol
        for tool in load_source(str(tmp_path), **more).tools.values()
    }


def test_a_name_a_request_and_names_of_arguments(tmp_path):
    bare = {
        "name": "get_user",
        "method": "get",
        "url": f"{HOST}/users/{{id}}",
        "arguments": ["id", "verbose"],
    }
    protocol = read(tmp_path, bare)["get_user"]
    assert protocol.binding == HttpBinding(
        method="GET", url=f"{HOST}/users/{{id}}", locations={"id": "path", "verbose": "query"}
    )
    assert protocol.input_schema == {
        "type": "object",
        "properties": {"id": {}, "verbose": {}},
        "required": ["id"],
    }
    assert protocol.output_schema is None
    assert protocol.evidence.level == "guessed"
    assert protocol.annotations == Annotations(read_only=True)


def test_arguments_may_have_sentences_types_and_schemas(tmp_path):
    arguments = {
        "title": "what it is called",
        "year": "integer",
        "tags": {"type": "array", "items": {"type": "string"}, "required": True},
        "X-Trace": {"in": "header", "description": "any text"},
        "free": None,
    }
    protocol = read(
        tmp_path, {"name": "add", "method": "POST", "url": f"{HOST}/films", "arguments": arguments}
    )["add"]
    assert protocol.parameters == {
        "title": {"description": "what it is called"},
        "year": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "X-Trace": {"description": "any text"},
        "free": {},
    }
    assert protocol.required == {"tags"}
    assert set(protocol.binding.locations.values()) == {"body", "header"}
    assert protocol.writes


def test_fieldless_writes_send_an_empty_object(tmp_path):
    made = read(tmp_path, [f"PUT {HOST}/films/{{id}}"])["put_films_by_id"]
    assert RequestBuilder(made, made.binding).build({"id": 1}).body == b"{}"


def test_short_forms_in_yaml(tmp_path):
    found = read(
        tmp_path,
        f"""
        - GET {HOST}/users/{{id}}?verbose=&format=json
        - delete_user: DELETE {HOST}/users/{{id}}
        - name: find
          request: GET {HOST}/users?q=
          description: Users by a part of their name.
        - name: full
          binding: {{http: {{method: GET, url: "{HOST}/full"}}}}
          url: kept as an unknown key
        """,
        "tools.yaml",
    )
    assert list(found) == ["get_users_by_id", "delete_user", "find", "full"]
    assert found["get_users_by_id"].binding.url == f"{HOST}/users/{{id}}?format=json", (
        "what has a value stays"
    )
    assert found["get_users_by_id"].binding.locations == {"id": "path", "verbose": "query"}
    assert found["delete_user"].annotations == Annotations(
        read_only=False, destructive=True, idempotent=True
    )
    assert list(found["find"].parameters) == ["q"]
    assert found["full"].extra == {"url": "kept as an unknown key"}
    assert found["full"].evidence.level == "declared"


def test_the_suffix_says_where_the_service_runs(tmp_path):
    (tmp_path / "t.yaml").write_text("a:\n  path: /a\nb: GET https://elsewhere.example/x/b?q=\n")
    urls = [
        t.protocol.binding.url for t in load_tools(f"{tmp_path}@http://127.0.0.1:8000").values()
    ]
    assert urls == ["http://127.0.0.1:8000/a", "http://127.0.0.1:8000/x/b"]
    listing = {
        "url": f"{HOST}/v1",
        "tools": [{"name": "a", "path": "/a/{x}"}, {"name": "b", "path": "b"}],
    }
    assert {p.binding.url for p in read(tmp_path / "under", listing).values()} == {
        f"{HOST}/v1/a/{{x}}",
        f"{HOST}/v1/b",
    }


def test_functions_are_bound_only_from_named_modules(tmp_path):
    module = tmp_path / "prices.py"
    module.write_text(
        "def total(net: float, rate: float = 0.2) -> float:\n    return net * (1 + rate)\n"
    )
    folder = tmp_path / "apis"
    folder.mkdir()
    bound = {"name": "sum_up", "binding": {"python": {"module": "prices", "function": "total"}}}
    (folder / "t.json").write_text(json.dumps(bound))
    with pytest.raises(
        InvalidProtocol,
        match="'sum_up' asks to run the Python function 'total', which a file may not",
    ):
        load_tools(str(folder))
    box = load_tools(str(folder), str(module))
    assert list(box) == ["sum_up"], "the function has one tool, that of its description"
    assert box["sum_up"].call({"net": 100}) == 120
    assert load_source(str(folder), modules=[str(module)]).tools["sum_up"].call({"net": 10}) == 12


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            {"name": "x", "method": "FETCH", "url": HOST},
            "tools.json: method: 'FETCH' is no HTTP method; write one of GET",
        ),
        (
            {"name": "x", "url": "/users"},
            "tools.json: url: '/users' names no http(s) host. Give the whole URL",
        ),
        (
            {"name": "x", "url": HOST, "arguments": 5},
            "arguments: they must be a list of names or an object, got 5",
        ),
        (
            {"name": "x", "url": HOST, "arguments": {"a": {"in": "air"}}},
            "a: 'air' is no place; write one of path",
        ),
        (
            {"name": "x", "url": HOST, "arguments": {"a": 5}},
            "arguments.a: 5 is neither a sentence nor a schema",
        ),
        (
            [f"GET {HOST}/a", "curl example.org"],
            "tools.json[1]: 'curl example.org' is no request; write 'GET https://HOST",
        ),
    ],
)
def test_a_bad_one_is_named(tmp_path, document, message):
    with pytest.raises((InvalidProtocol, SourceUnavailable)) as caught:
        read(tmp_path, document)
    assert message in str(caught.value), str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
