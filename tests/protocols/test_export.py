"""Export: what OpenAPI can say comes back the same; MCP tools are MCP tools."""

import json
from dataclasses import replace

from protocols.export import mcp_tool, to_openapi
from protocols.protocol import (
    Annotations,
    ErrorOutcome,
    Example,
    HttpBinding,
    PythonBinding,
    ToolProtocol,
)
from protocols.sources.openapi import read_openapi
from protocols.validate import validator

NODE = {
    "type": "object",
    "title": "Node",
    "properties": {"next": {"$ref": "#/$defs/Node"}, "n": {"type": "integer"}},
}
NODES = {"type": "array", "items": {"$ref": "#/$defs/Node"}, "$defs": {"Node": NODE}}


def http(method, path, origin="https://a.example", **more):
    return HttpBinding(method=method, url=f"{origin}{path}", **more)


def arguments(*required, **schemas):
    return {"type": "object", "properties": schemas} | (
        {"required": list(required)} if required else {}
    )


TEXT = {"type": "string"}
EXPRESSIBLE = [
    ToolProtocol(
        name="get-thing",
        title="Thing",
        description="A thing.\nIn two lines.",
        input_schema=arguments("id", id=TEXT, query_id={"type": "integer"}, ids={"type": "array", "x-atc-join": ","},
                               made={"type": "object", "x-atc-join": "[]"}, q={"x-atc-join": "{}"}),
        output_schema=NODES,
        annotations=Annotations(read_only=True),
        binding=http(
            "GET", "/v1/things/{id}",
            locations={"id": "path", "query_id": "query", "ids": "query", "made": "query", "q": "query"},
            wire_names={"query_id": "id"}, credentials=("key", "token"),
        ),
        errors=(ErrorOutcome(status="404", description="none", schema=NODES), ErrorOutcome(status="default")),
        category="Things",
        collection="T",
        extra={"deprecated": True},
    ),
    ToolProtocol(
        name="make",
        input_schema=arguments("name", name=TEXT, tree={"$ref": "#/$defs/Node"}) | {"$defs": {"Node": NODE}},
        output_schema={"type": "null"},
        annotations=Annotations(read_only=False),
        binding=http(
            "POST", "/v1/things",
            locations={"name": "body", "tree": "body"}, idempotency_header="Idempotency-Key",
        ),
        collection="T",
    ),
    ToolProtocol(
        name="put",
        input_schema=arguments("body", body={"type": "array", "items": TEXT}),
        output_schema={"type": "string"},
        annotations=Annotations(read_only=False, idempotent=True),
        binding=http(
            "PUT", "/v1/things",
            locations={"body": "body"}, body_argument="body", media="application/vnd.a+json",
        ),
        collection="T",
    ),
    ToolProtocol(
        name="delete",
        input_schema=arguments("why", why=TEXT),
        annotations=Annotations(read_only=False, destructive=True, idempotent=False),
        binding=http("DELETE", "/v1/things", locations={"why": "form"}),
        collection="T",
    ),
    ToolProtocol(
        name="show",
        output_schema=NODES,
        annotations=Annotations(read_only=True),
        binding=http("GET", "/v1/manifest", accept=("application/vnd.a+json", "application/vnd.b+json")),
        collection="T",
    ),
    ToolProtocol(
        name="picture",
        annotations=Annotations(read_only=False),
        output_schema={"type": "string", "format": "binary"},
        binding=http("GET", "/v1/picture", accept=("image/png",)),
        collection="T",
    ),
    ToolProtocol(
        name="other",
        annotations=Annotations(read_only=True),
        binding=http("GET", "/v1/things", origin="http://127.0.0.1:8000"),
        collection="T",
    ),
]  # fmt: skip
RENAMED = ToolProtocol(
    name="look",
    input_schema=arguments(agent=TEXT, sid=TEXT),
    output_schema={"type": "null"},
    annotations=Annotations(read_only=True),
    binding=http(
        "HEAD", "/", locations={"agent": "header", "sid": "cookie"}, wire_names={"agent": "X-Agent"}
    ),
    collection="T",
)


def back(*protocols):
    """The protocols as they come back from the document that is written of them."""
    document = json.loads(json.dumps(to_openapi(protocols, "T")))
    found = read_openapi(document, where="exported")
    # The siblings of a tool are others in the document than they were in its source.
    return [replace(one, binding=replace(one.binding, sibling_credentials=())) for one in found]


def test_what_openapi_can_say_comes_back_the_same():
    *found, renamed = sorted(back(RENAMED, *EXPRESSIBLE), key=lambda p: (p.name == "look", p.name))
    assert found == sorted(EXPRESSIBLE, key=lambda p: p.name)
    assert renamed.binding.locations == {"X-Agent": "header", "sid": "cookie"}, (
        "OpenAPI knows no other name"
    )
    assert renamed.output_schema == RENAMED.output_schema


def test_equal_names_keep_different_definitions_apart():
    other = {
        "type": "object",
        "title": "Node",
        "properties": {"next": {"$ref": "#/$defs/Node"}, "s": TEXT},
    }
    tools = [
        ToolProtocol(
            name=name,
            output_schema={"items": {"$ref": "#/$defs/Node"}, "$defs": {"Node": node}},
            binding=http("GET", f"/{name}"),
        )
        for name, node in (("a", NODE), ("b/get", other), ("c", NODE))
    ]
    document = to_openapi(tools, "T")
    assert list(document["components"]["schemas"]) == ["Node", "b_get.Node"]
    a, b, c = read_openapi(document, where="d")
    assert a.output_schema == c.output_schema == tools[0].output_schema
    (name,) = b.output_schema["$defs"]
    assert b.output_schema["$defs"][name]["properties"]["s"] == TEXT


def test_tools_without_http_become_posts():
    tool = ToolProtocol(
        name="add",
        input_schema=arguments("a", a={"type": "integer"}),
        binding=PythonBinding(module="m", function="add"),
        examples=(Example(question="?"),),
    )
    document = to_openapi([tool], "T")
    assert list(document["paths"]["/add"]) == ["post"]
    (read,) = read_openapi(document, where="d", base_url="http://127.0.0.1:1")
    assert read.binding == HttpBinding(
        method="POST", url="http://127.0.0.1:1/add", locations={"a": "body"}
    )
    assert (read.input_schema, read.examples) == (tool.input_schema, ())


def test_mcp_tools_have_mcps_keys_and_object_results():
    listed = mcp_tool(EXPRESSIBLE[0])
    single = mcp_tool(ToolProtocol(name="x", output_schema={"type": "object"}, category="c"))
    assert listed.keys() == {
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
    }
    assert listed["annotations"] == {"readOnlyHint": True}
    assert listed["outputSchema"]["properties"]["result"] == {
        "type": "array",
        "items": {"$ref": "#/$defs/Node"},
    }
    assert listed["outputSchema"]["required"] == ["result"]
    validator(listed["outputSchema"])
    assert single == {
        "name": "x",
        "inputSchema": {"type": "object", "properties": {}},
        "outputSchema": {"type": "object"},
    }
