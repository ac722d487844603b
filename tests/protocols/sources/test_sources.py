"""`load_tools` finds out what a source is, reads it within limits, names it, and makes its tools callable."""

import json

import pytest

from protocols.documentation import docs_page
from protocols.errors import AtcError, InvalidProtocol, SourceUnavailable, ToolError
from protocols.sources import load_tools
from protocols.sources.fetch import fetch_document, parse_document
from protocols.sources.folder import read_folder
from tests.labs.loopback import Reply, serving

AIRPORTS = {
    "type": "object",
    "properties": {
        "airports": {"type": "array", "items": {"properties": {"code": {"type": "string"}}}}
    },
}
SEARCH = {
    "operationId": "search",
    "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
    "responses": {"200": {"content": {"application/json": {"schema": AIRPORTS}}}},
}
CODE = {"name": "code", "in": "path", "schema": {"type": "string"}}
API = {
    "openapi": "3.1.0",
    "info": {"title": "My Flights"},
    "paths": {
        "/airports": {"get": SEARCH},
        "/airports/{code}": {"get": {"operationId": "airport", "parameters": [CODE]}},
    },
}


def load(*sources):
    return load_tools(*map(str, sources))


@pytest.fixture
def api(tmp_path):
    file = tmp_path / "flights.json"
    file.write_text(json.dumps(API | {"servers": [{"url": "https://a.example/v1"}]}))
    return file


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "my tools"
    made.mkdir()
    bound = {"http": {"method": "GET", "url": "https://a.example/x"}}
    (made / "a.json").write_text(
        json.dumps([{"name": "search", "binding": bound}, {"name": "loose"}])
    )
    return made


@pytest.fixture
def module(tmp_path):
    file = tmp_path / "sums.py"
    file.write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    return file


def test_clashing_names_take_the_sources_prefix(api, folder, module):
    box = load(api, folder, module)
    assert {alias: tool.source for alias, tool in box.items()} == {
        "my_flights_search": "my_flights",
        "airport": "my_flights",
        "my_tools_search": "my tools",
        "loose": "my tools",
        "add": "sums",
    }
    assert box["add"].call({"a": 1, "b": 2}) == 3


def test_one_protocol_file_and_a_list_of_them(folder, tmp_path):
    assert list(load(folder / "a.json")) == ["search", "loose"]
    (tmp_path / "one.yaml").write_text("name: only\n")
    (tool,) = load(tmp_path / "one.yaml").values()
    assert (tool.alias, tool.source) == ("only", "one")


def test_folders_are_ordered_and_bad_files_named(tmp_path):
    with pytest.raises(SourceUnavailable, match=r"has no protocol files \(\*\.json or \*\.yaml\)"):
        read_folder(tmp_path)
    for name, text in {
        "b.json": '{"name": "b"}',
        "a/z.json": '[{"name": "z1"}, {"name": "z2"}]',
        "c.yaml": "name: c\ndescription: in YAML\n",
        "d.txt": "not a protocol",
        ".hidden/x.json": "broken",
        ".x.json": "broken",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert [protocol.name for protocol in read_folder(tmp_path)] == ["z1", "z2", "b", "c"]
    for text, message in {
        '[{"name": "a"}, {"name": 5}]': r"b\.json\[1\]: name: 5 is not of type",
        '{"openapi": "3.1.0", "paths": {}}': r"b\.json: .*this is an OpenAPI document, not a protocol",
    }.items():
        (tmp_path / "b.json").write_text(text)
        with pytest.raises(InvalidProtocol, match=message):
            read_folder(tmp_path)


def test_repeated_sources_count_once(api, tmp_path):
    assert len(load(api, api)) == 2
    other = tmp_path / "other.json"
    other.write_text(api.read_text())
    with pytest.raises(
        SourceUnavailable, match=r"two sources are named 'my_flights': .* 'other=.*other\.json'"
    ):
        load(api, other)
    assert {tool.source for tool in load(api, f"other={other}").values()} == {"my_flights", "other"}


def test_the_suffix_says_where_the_service_runs(api):
    box = load(f"{api}@http://127.0.0.1:8000", f"b={api}@https://b.example/api")
    assert {
        tool.protocol.binding.url for tool in box.values() if tool.protocol.name == "search"
    } == {
        "http://127.0.0.1:8000/v1/airports",
        "https://b.example/api/airports",
    }


@pytest.mark.parametrize("binding", [None, {"mcp": {"server": "files", "tool": "read"}}])
def test_an_uncallable_tool_says_so(tmp_path, binding):
    (tmp_path / "a.json").write_text(
        json.dumps({"name": "loose"} | ({"binding": binding} if binding else {}))
    )
    with pytest.raises(ToolError) as caught:
        load_tools(str(tmp_path))["loose"].call({})
    assert (caught.value.status, caught.value.outcome) == (None, "not_run")
    assert caught.value.body.startswith("the tool 'loose' ")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "nowhere",
            "'nowhere' is no tool source: there is no such folder, file or Python module; give a folder",
        ),
        ("", "'' is no tool source"),
    ],
)
def test_a_source_that_is_not_there(source, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceUnavailable) as caught:
        load(source)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello there", "d.json: 'hello there' is no request; write 'GET https://HOST/path/{id}'."),
        (
            '{"a": 1}',
            f'd.json: "name" is a required property. The format: {docs_page("reference/protocols#the-format")}.',
        ),
        (
            '{"openapi": "3.1.0", "paths": {"/x": {"summary": "nothing"}, "/y": null}}',
            "describes no operations: its 'paths' are missing or empty",
        ),
        ('[{"name": "x"}, {"name": "x"}]', "two tools are named 'x'. Rename one of them"),
    ],
)
def test_a_file_that_holds_something_else(tmp_path, content, message):
    file = tmp_path / "d.json"
    file.write_text(content)
    with pytest.raises(AtcError) as caught:
        load(file)
    assert isinstance(caught.value, SourceUnavailable | InvalidProtocol)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


# Documents from files and addresses: read within limits, every failure one plain sentence.


def refusal(location, **more):
    with pytest.raises(SourceUnavailable) as caught:
        fetch_document(location, **more)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        (
            "a:\n  200: x\n  on: no\n  at: 2020-01-01\n  n: 0.5\n",
            {"a": {"200": "x", "on": "no", "at": "2020-01-01", "n": 0.5}},
        ),
        ("\ufeff{}", {}),
    ],
)
def test_json_and_yaml(tmp_path, text, value):
    file = tmp_path / "d.yaml"
    file.write_text(text, encoding="utf-8")
    assert fetch_document(str(file)) == value


def test_files_that_cannot_be_read(tmp_path):
    assert "cannot be read" in refusal("a\0b.json")
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    assert "is not text" in refusal(f"{tmp_path}/b")


def test_a_huge_file_is_not_read(tmp_path):
    file = tmp_path / "huge.json"
    with file.open("wb") as sparse:
        sparse.truncate(3_000_000_000)
    assert "larger than 50 MB" in refusal(str(file))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "<!DOCTYPE html><html></html>",
            "is HTML or XML, not a JSON or YAML document; give the address",
        ),
        ('{"a": 1,}{', "is neither JSON nor YAML"),
        (
            "a: !!python/object:os.system {}",
            "is neither JSON nor YAML: could not determine a constructor",
        ),
        ("[" * 100_000, "nested too deeply|more than can be read safely"),
        ("a: &x [*x]", "holds more than can be read safely"),
        ("a: !!binary aGk=", "is neither JSON nor YAML"),
        ("a: " + "[" * 2_000, "is neither JSON nor YAML: exceeded maximum nesting depth"),
        (
            f"a: &x {'x' * 10_000}\nb: [" + "*x," * 20_000 + "]",
            "holds more than can be read safely",
        ),
        ('{"a": ' + "9" * 5000 + "}", "is neither JSON nor YAML: Exceeds the limit"),
    ],
)
def test_text_that_is_no_document(text, problem):
    with pytest.raises(SourceUnavailable, match=f"^d.yaml .*(?:{problem})"):
        parse_document(text, where="d.yaml")


@pytest.mark.parametrize(
    "merge",
    [
        "[*l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}, *l{0}]",
        "{{<<: [*l{0}, *l{0}, *l{0}, *l{0}]}}",
    ],
)
def test_a_bomb_of_aliases_does_not_go_off(merge):
    lines = ["l0: &l0 {a: 1, b: 2}"] + [f"l{n + 1}: &l{n + 1} {merge.format(n)}" for n in range(30)]
    with pytest.raises(
        SourceUnavailable,
        match="holds more than can be read safely once its aliases are written out",
    ):
        parse_document("\n".join(lines), where="d.yaml")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(404), "answered 404 Not Found; check the address."),
        (
            Reply(401),
            "answered 401 Unauthorized; download the document yourself and give the file as 'FILE@http://",
        ),
        (Reply(body=b"<html>docs</html>"), "is HTML or XML"),
    ],
)
def test_answers_that_are_no_document(reply, problem):
    with serving(lambda _: reply) as server:
        assert problem in refusal(f"{server.url}/d")
