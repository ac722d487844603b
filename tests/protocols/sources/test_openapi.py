"""OpenAPI 3.0, 3.1 and Swagger 2 → protocols, well-formed or not."""

import pytest

from protocols.errors import InvalidProtocol
from protocols.protocol import Annotations, ErrorOutcome, HttpBinding, Link
from protocols.schema import resolve
from protocols.sources.openapi import read_openapi
from protocols.validate import find_violation, validator


def api(paths, **more):
    return {
        "openapi": "3.1.0",
        "info": {"title": "T"},
        "servers": [{"url": "https://a.example/v1"}],
        "paths": paths,
        **more,
    }


def only(operation, *, method="get", path="/x", **more):
    """The protocol of a document with this one operation."""
    (protocol,) = read_openapi(api({path: {method: operation}}, **more), where="doc.json")
    return protocol


def json_of(schema):
    return {"content": {"application/json": {"schema": schema}}}


def test_an_operation_becomes_a_protocol():
    protocol = only(
        {
            "operationId": "getAirport",
            "summary": "Airport",
            "description": "One airport.",
            "tags": ["Airports", "Other"],
            "deprecated": True,
            "parameters": [
                {"name": "lang", "in": "header", "schema": {"type": "string"}},
                {
                    "name": "code",
                    "in": "path",
                    "required": True,
                    "description": "IATA",
                    "schema": {"type": "string"},
                },
                {"name": "limit", "in": "query", "schema": {"type": "integer", "default": 10}},
                {"name": "sid", "in": "cookie", "schema": {"type": "string"}},
            ],
            "responses": {
                "200": {
                    "description": "ok",
                    **json_of({"type": "object", "properties": {"code": {"type": "string"}}}),
                },
                "404": {"description": "none such", **json_of({"type": "object"})},
                "default": {"description": "else"},
            },
            "security": [{"key": []}],
        },
        path="/airports/{code}",
    )
    assert (protocol.name, protocol.title, protocol.description) == (
        "getAirport",
        "Airport",
        "One airport.",
    )
    assert (protocol.category, protocol.collection) == ("Airports", "T")
    assert protocol.input_schema == {
        "type": "object",
        "properties": {
            "code": {"type": "string", "description": "IATA"},
            "limit": {"type": "integer", "default": 10},
            "lang": {"type": "string"},
            "sid": {"type": "string"},
        },
        "required": ["code"],
    }
    assert protocol.output_schema == {"type": "object", "properties": {"code": {"type": "string"}}}
    assert protocol.binding == HttpBinding(
        method="GET",
        url="https://a.example/v1/airports/{code}",
        locations={"code": "path", "limit": "query", "lang": "header", "sid": "cookie"},
        credentials=("key",),
    )
    assert protocol.errors == (
        ErrorOutcome(status="404", description="none such", schema={"type": "object"}),
        ErrorOutcome(status="default", description="else"),
    )
    assert protocol.annotations == Annotations(read_only=True)
    assert protocol.extra == {"deprecated": True}


def test_hints_of_a_document_only_add_care():
    bold = {
        "x-atc-annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
        }
    }
    careful = {
        "x-atc-annotations": {
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": False,
        }
    }
    assert only(bold, method="delete").annotations == only({}, method="delete").annotations
    assert only(bold, method="post").annotations == Annotations(read_only=False)
    assert only(careful).annotations == Annotations(
        read_only=False, destructive=True, idempotent=False
    )


def test_operations_without_a_name_get_a_readable_one():
    assert only({}, path="/users/{id}/posts").name == "get_users_posts_by_id"
    assert only({}, path="/").name == "get_root"


def test_two_operations_of_one_name_are_numbered():
    paths = {"/a": {"get": {"operationId": "x"}}, "/b": {"post": {"operationId": "x"}}}
    assert [protocol.name for protocol in read_openapi(api(paths), where="d")] == ["x", "x_2"]


def test_path_parameters_are_inherited_replaced_and_invented():
    paths = {
        "/u/{id}/{forgotten}": {
            "parameters": [
                {"name": "id", "in": "path", "schema": {"type": "string"}},
                {"name": "q", "in": "query", "schema": {"type": "string"}},
                {"name": "stray", "in": "path", "schema": {}},
            ],
            "get": {"parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}]},
        }
    }
    (protocol,) = read_openapi(api(paths), where="d")
    assert protocol.parameters == {
        "id": {"type": "integer"},
        "q": {"type": "string"},
        "forgotten": {"type": "string"},
    }
    assert protocol.required == {"id", "forgotten"}


def test_headers_that_are_no_arguments():
    header = {"in": "header", "schema": {"type": "string"}}
    names = ("Accept", "Content-Type", "Authorization", "Idempotency-Key")
    protocol = only(
        {"parameters": [{"name": name, "required": True, **header} for name in names]},
        method="post",
    )
    assert protocol.parameters == {}
    assert protocol.binding.idempotency_header == "Idempotency-Key"
    assert protocol.binding.credentials == ("Authorization",)


@pytest.mark.parametrize(
    ("security", "names"),
    [
        ([{"a": []}, {"b": []}], ("a", "b")),
        ([{"a": [], "b": ["scope"]}], (("a", "b"),)),
        ([{"a": []}, {}], ("a", ())),
        ([], ((),)),
        (None, ("top",)),
    ],
)
def test_credentials_are_names_only(security, names):
    operation = {} if security is None else {"security": security}
    assert only(operation, security=[{"top": []}]).binding.credentials == names


def body(schema, *, media="application/json", **more):
    return {"requestBody": {"content": {media: {"schema": schema}}, **more}}


NAMED = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tag": {"type": "string"}},
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("media", "place"),
    [
        ("application/json", "body"),
        ("application/x-www-form-urlencoded", "form"),
        ("multipart/form-data", "form"),
    ],
)
def test_an_object_body_becomes_arguments(media, place):
    protocol = only(body(NAMED, media=media, required=True), method="post")
    assert protocol.parameters == NAMED["properties"]
    assert protocol.required == {"name"}
    assert protocol.binding.locations == {"name": place, "tag": place}
    assert protocol.binding.body_argument is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}},
        {"anyOf": [NAMED, {"type": "string"}]},
    ],
)
def test_other_bodies_are_one_argument(schema):
    protocol = only(body(schema, required=True), method="post")
    assert protocol.parameters == {"body": schema}
    assert protocol.binding.body_argument == "body"
    assert protocol.binding.locations == {"body": "body"}
    assert protocol.required == {"body"}


PICTURE = {
    "type": "object",
    "properties": {"name": {"type": "string", "format": "binary", "nullable": True}},
}


@pytest.mark.parametrize(
    ("kinds", "schema", "media"),
    [
        (["text/csv", "application/vnd.a+json; charset=utf-8"], NAMED, "application/vnd.a+json"),
        (["application/json-patch+json", "text/json", "application/json"], NAMED, ""),
        (
            ["application/json-patch+json", "application/merge-patch+json"],
            NAMED,
            "application/merge-patch+json",
        ),
        (["application/*+json"], NAMED, ""),
        (["application/json", "multipart/form-data"], PICTURE, "multipart/form-data"),
    ],
)
def test_json_is_preferred_unless_a_file_exists(kinds, schema, media):
    protocol = only(
        {"requestBody": {"content": {kind: {"schema": schema} for kind in kinds}}}, method="post"
    )
    assert "name" in protocol.parameters
    assert protocol.binding.media == media


def test_a_body_of_text_is_a_string():
    text = only(body({"type": "object"}, media="text/csv"), method="post")
    assert text.parameters == {"body": {"type": "string", "contentMediaType": "text/csv"}}


def test_read_only_and_write_only_are_respected():
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "readOnly": True},
            "pin": {"oneOf": [{"type": "string"}], "nullable": True, "writeOnly": True},
            "n": {},
        },
        "required": ["id", "pin", "n"],
    }
    protocol = only(
        {**body(schema, required=True), "responses": {"200": json_of(schema)}}, method="post"
    )
    assert list(protocol.parameters) == ["pin", "n"]
    assert protocol.required == {"pin", "n"}
    assert list(protocol.output_schema["properties"]) == ["id", "n"]
    assert protocol.output_schema["required"] == ["id", "n"]


@pytest.mark.parametrize(
    ("responses", "output"),
    [
        ({"2XX": json_of({"type": "integer"}), "404": {}}, {"type": "integer"}),
        ({"204": {"description": "done"}}, {"type": "null"}),
        ({"200": {"content": {"text/plain": {}}}}, {"type": "string"}),
        (
            {
                "200": {
                    "content": {"text/html": {}, "application/json": {"schema": {"type": "array"}}}
                }
            },
            {"type": "array"},
        ),
        (
            {"200": {"content": {"text/plain": {"schema": {"type": "integer"}}}}},
            {"type": "integer"},
        ),
        ({"200": {"content": {"text/csv": {"schema": {"type": "array"}}}}}, {"type": "string"}),
        (
            {"200": {"content": {"text/plain": {"schema": {"type": "object"}}}}},
            {"anyOf": [{"type": "object"}, {"type": "string"}]},
        ),
        (
            {"200": json_of({"type": "array"}), "202": {"content": {"text/plain": {}}}, "206": {}},
            {"anyOf": [{"type": "array"}, {"type": "string"}]},
        ),
        (
            {"200": json_of({"type": "array"}), "202": {"content": {"application/json": {}}}},
            {"anyOf": [{"type": "array"}, {}]},
        ),
        ({"200": {"content": {"image/png": {}}}}, {"type": "string", "format": "binary"}),
        ({200: json_of({"type": "integer"})}, {"type": "integer"}),
    ],
)
def test_the_response_of_success(responses, output):
    assert only({"responses": responses}).output_schema == output


@pytest.mark.parametrize(
    ("kinds", "accept"),
    [
        (
            ["application/vnd.a.v1+json", "application/VND.b"],
            ("application/vnd.a.v1+json", "application/vnd.b"),
        ),
        (["image/png; q=1", "image/*", "a/b\r\nCookie: c"], ("image/png",)),
        (["text/csv", "application/json; charset=utf-8"], ()),
        (["text/plain"], ()),
        (["*/*"], ()),
    ],
)
def test_the_media_types_of_success_are_asked_for(kinds, accept):
    responses = {"200": {"content": {kind: {} for kind in kinds}}, "404": {"content": {"a/b": {}}}}
    assert only({"responses": responses}).binding.accept == accept


def out(schema, version="3.0.3", **schemas):
    """`schema` as the reader gives it in a response."""
    document = api(
        {"/x": {"get": {"responses": {"200": json_of(schema)}}}}, components={"schemas": schemas}
    )
    (protocol,) = read_openapi(document | {"openapi": version}, where="d")
    validator(protocol.output_schema or {})
    return protocol.output_schema


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"enum": ["a"], "type": "string", "nullable": True}, {"enum": ["a", None], "type": ["string", "null"]}),
        ({"enum": [4.1, True, "b"], "type": "string"}, {"enum": ["4.1", "true", "b"], "type": "string"}),
        ({"type": "int"}, {"type": "integer"}),
        ({"type": ["string", None]}, {"type": ["string", "null"]}),
        ({"oneOf": [{}], "nullable": True}, {"anyOf": [{"anyOf": [{}]}, {"type": "null"}]}),
        ({"type": "file"}, {"type": "string", "format": "binary"}),
        ({"type": "string", "description": None, "minLength": "3", "pattern": "[a-"}, {"type": "string"}),
        ({"type": "string", "example": "JFK"}, {"type": "string", "examples": ["JFK"]}),
        ({"type": "string", "xml": {}, "x-order": 3, "discriminator": {"propertyName": "a"}}, {"type": "string"}),
        ({"const": {"$ref": "not a reference"}}, {"const": {"$ref": "not a reference"}}),
        ({"properties": {"$ref": {"default": 1}}}, {"properties": {"$ref": {"default": 1}}}),
    ],
)  # fmt: skip
def test_dialects_become_2020_12(written, meant):
    assert out(written) == meant


def test_references_are_written_out():
    node = {"type": "object", "properties": {"code": {"$ref": "#/components/schemas/Code"}}}
    assert out(
        {"$ref": "#/components/schemas/Air~1port%20x"},
        **{"Air/port x": node, "Code": {"type": "string"}},
    ) == {
        "type": "object",
        "properties": {"code": {"type": "string"}},
        "title": "Air_1port_x",
    }


def test_what_stands_beside_a_reference_is_kept():
    code = {"type": "string", "description": "a code", "minLength": 1}
    ref = {"$ref": "#/components/schemas/Code"}
    assert out({**ref, "description": "of the origin"}, Code=code) == {
        **code,
        "description": "of the origin",
    }
    assert out({**ref, "nullable": True}, Code=code) == {**code, "type": ["string", "null"]}
    assert out({**ref, "maxLength": 3}, "3.1.0", Code=code) == {"allOf": [code], "maxLength": 3}


def test_all_of_plain_objects_is_one_object():
    base = {
        "type": "object",
        "properties": {"id": {"type": "string"}, "kind": {}},
        "required": ["id"],
    }
    more = {
        "properties": {"name": {"type": "string"}, "kind": {"type": "string"}},
        "required": ["name", "id"],
    }
    joined = out(
        {"allOf": [{"$ref": "#/components/schemas/Base"}, more], "description": "d"}, Base=base
    )
    assert joined == {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "kind": {"type": "string"},
            "name": {"type": "string"},
        },
        "required": ["id", "name"],
        "description": "d",
    }
    closed = {
        "allOf": [{**base, "additionalProperties": False}, {**more, "additionalProperties": False}]
    }
    assert out({**closed, "description": "d"}) == {**joined, "additionalProperties": False}


def test_discriminators_name_subtypes():
    """As NSwag and springdoc write them: no `oneOf`, and a property that is any text."""
    ref, far = "#/components/schemas/", "https://elsewhere.example/monster.json"
    told = {
        "propertyName": "kind",
        "mapping": {"cat": f"{ref}Cat", "lynx": "Lynx", "pet": f"{ref}Pet", "m": far},
    }
    mate = {"kind": {"type": "string"}, "mate": {"$ref": f"{ref}Pet"}}
    pet = {"type": "object", "properties": mate, "required": ["kind"], "discriminator": told}
    cat = {
        "allOf": [
            {"$ref": f"{ref}Pet"},
            {"type": "object", "properties": {"lives": {"type": "integer"}}},
        ]
    }
    lynx = {
        "allOf": [{"$ref": f"{ref}Cat"}],
        "type": "object",
        "properties": {"ears": {"type": "integer"}},
    }
    schema = out({"type": "array", "items": {"$ref": f"{ref}Pet"}}, Pet=pet, Cat=cat, Lynx=lynx)
    union = {"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Lynx"}, {"$ref": "#/$defs/Pet"}]}
    assert schema["items"] == union
    assert schema["$defs"]["Pet"]["properties"] == {"kind": {"type": "string"}, "mate": union}
    assert list(schema["$defs"]["Cat"]["properties"]) == ["kind", "mate", "lives"]
    assert schema["$defs"]["Lynx"]["properties"]["kind"] == {"type": "string", "enum": ["lynx"]}


def test_recursive_schemas_keep_a_reference_into_themselves():
    kids = {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}
    tree = {
        "type": "object",
        "properties": {"label": {"$ref": "#/components/schemas/Label"}, "kids": kids},
    }
    schema = out(
        {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
        Tree=tree,
        Label={"type": "string"},
    )
    assert schema["items"] == {"$ref": "#/$defs/Tree"}
    assert schema["$defs"]["Tree"]["properties"]["label"] == {"type": "string"}
    assert (
        find_violation(schema, [{"kids": [{"kids": [{"label": 5}]}]}]).path
        == "[0].kids[0].kids[0].label"
    )


@pytest.mark.parametrize(
    "schemas",
    [
        {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}},
        {"A": {"allOf": [{"$ref": "#/components/schemas/A"}]}},
    ],
)
def test_references_in_a_circle_end(schemas):
    assert resolve(out({"$ref": "#/components/schemas/A"}, **schemas), {}) is not None


@pytest.mark.parametrize(
    ("ref", "problem"),
    [
        ("#/components/schemas/None", "which leads nowhere"),
        ("other.yaml#/A", "which lies outside the document; references are not fetched"),
    ],
)
@pytest.mark.parametrize(
    "operation",
    [
        lambda ref: {"$ref": ref},
        lambda ref: {"responses": {"200": {"$ref": ref}}},
        lambda ref: {"parameters": [{"$ref": ref}]},
    ],
)
def test_broken_and_remote_references_are_named(ref, problem, operation):
    with pytest.raises(InvalidProtocol) as caught:
        only(operation(ref), path="/y")
    assert f"GET /y needs {ref!r}, {problem}." in str(caught.value)
    assert str(caught.value).startswith("doc.json: $ref: ")


def test_a_schema_that_is_missing_says_nothing():
    """As in Square's and Intercom's documents; one in another file is refused, for all of them would be missing."""
    fields = {"a": {"$ref": "#/components/schemas/None"}, "b": {"type": "integer"}}
    assert out({"properties": fields}) == {"properties": {"a": {}, "b": {"type": "integer"}}}
    with pytest.raises(InvalidProtocol, match="lies outside the document"):
        out({"$ref": "other.yaml#/A"})


def test_arrays_that_are_one_value_say_so():
    def array(**more):
        return {"in": "query", "schema": {"type": "array", "items": {"type": "string"}}, **more}

    piped = array(style="pipeDelimited", explode=False)
    deep = {"name": "d", "in": "query", "style": "deepObject", "schema": {"type": "object"}}
    form = {
        "schema": {"type": "object", "properties": {"e": {"type": "array"}, "f": {}}},
        "encoding": {"e": deep},
    }
    body = {"content": {"application/x-www-form-urlencoded": form}}
    as_json = {
        "name": "j",
        "in": "query",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
    parameters = [
        array(name="a"),
        array(name="b", explode=False),
        {"name": "c", **piped},
        deep,
        as_json,
    ]
    parameters.append(array(name="g", explode="false"))  # as Spotify's says it
    protocol = only({"parameters": parameters, "requestBody": body})
    joints = {name: schema.get("x-atc-join") for name, schema in protocol.parameters.items()}
    assert joints == {
        "a": None,
        "b": ",",
        "c": "|",
        "d": "[]",
        "j": "{}",
        "g": ",",
        "e": "[]",
        "f": None,
    }


def test_an_empty_body_is_no_argument():
    closed = {"schema": {"type": "object", "properties": {}, "additionalProperties": False}}
    assert not only(
        {"requestBody": {"content": {"application/x-www-form-urlencoded": closed}}}
    ).parameters
    never = {"type": "object", "properties": {"a": False}}
    assert only(body(never, media="multipart/form-data")).parameters == {"a": False}


VARIABLES = {"r": {"default": "a"}, "p": {"enum": [8]}, "v": {"default": 2}}


@pytest.mark.parametrize(
    ("servers", "where", "base_url", "url"),
    [
        ([{"url": "https://b.example/api/"}], "d.json", None, "https://b.example/api/x"),
        ([{"url": "/api"}], "https://b.example/docs/openapi.json", None, "https://b.example/api/x"),
        ([], "http://127.0.0.1:8000/openapi.json", None, "http://127.0.0.1:8000/x"),
        ([{"url": "/api"}], "d.json", "http://127.0.0.1:8000", "http://127.0.0.1:8000/api/x"),
        ([{"url": "https://b.example/api"}], "d.json", "http://localhost:1/v9/", "http://localhost:1/v9/x"),
        ([{"url": "http://{r}:{p}/{v}", "variables": VARIABLES}], "d.json", None, "http://a:8/2/x"),
    ],
)  # fmt: skip
def test_where_the_service_runs(servers, where, base_url, url):
    document = api({"/x": {"get": {}}}) | {"servers": servers}
    (protocol,) = read_openapi(document, where=where, base_url=base_url)
    assert protocol.binding.url == url


def test_operations_may_have_own_servers():
    own = {"servers": [{"url": "https://op.example"}]}
    paths = {"/a": {"servers": [{"url": "https://item.example"}], "get": {}, "put": own}}
    paths["/b"] = {"servers": [{"url": "/v2"}], "get": {}}
    found = [protocol.binding.url for protocol in read_openapi(api(paths), where="d")]
    assert found == ["https://item.example/a", "https://op.example/a", "https://a.example/v2/b"]


@pytest.mark.parametrize(
    "servers", [None, [{"url": "https://{host}/v1"}], [{"url": "https://[you].example/v1"}]]
)
def test_a_document_without_host_says_what_to_give(servers):
    advice = r"names no http\(s\) host\. Say where the service runs: 'd.json@https://HOST'\."
    with pytest.raises(InvalidProtocol, match=advice):
        read_openapi(api({"/x": {"get": {}}}) | {"servers": servers}, where="d.json")


def test_links_stand_at_the_tool_that_uses_them():
    def link(place, operation="airport", argument="code"):
        return {"operationId": operation, "parameters": {argument: f"$response.{place}"}}

    links = {
        "byCode": link("body#/airports/0/code"),
        "shared": {"$ref": "#/components/links/Shared"},
        "gone": link("body#/x", operation="nobody"),
        "header": link("header.Location"),
        "other": link("body#/x", argument="nope"),
    }
    search = {"operationId": "search", "responses": {"200": {"description": "", "links": links}}}
    paths = {
        "/s": {"get": search},
        "/a/{code}": {"get": {"operationId": "airport"}},
        "/w/{code}": {"get": {"operationId": "weather"}},
    }
    shared = link("body#/best", operation="weather")
    found = {
        p.name: p.links
        for p in read_openapi(api(paths, components={"links": {"Shared": shared}}), where="d")
    }
    assert found == {
        "search": (),
        "airport": (
            Link(argument="code", tool="search", path="airports[].code", support="declared"),
        ),
        "weather": (Link(argument="code", tool="search", path="best", support="declared"),),
    }


def test_nesting_without_end_is_refused():
    schema = {}
    for _ in range(5000):
        schema = {"items": schema}
    with pytest.raises(InvalidProtocol, match="nested too deeply"):
        only({"responses": {"200": json_of(schema)}})


def swagger(operation, *, method="get", path="/x", where="d.json", **more):
    told = {
        "swagger": "2.0",
        "info": {"title": "T"},
        "host": "a.example",
        "basePath": "/v1",
        "schemes": ["https"],
    }
    (protocol,) = read_openapi({**told, "paths": {path: {method: operation}}, **more}, where=where)
    return protocol


def test_swagger_parameters_and_responses():
    texts = {"type": "array", "items": {"type": "string"}}
    protocol = swagger(
        {
            "parameters": [
                {
                    "name": "id",
                    "in": "path",
                    "type": "integer",
                    "required": True,
                    "format": "int64",
                },
                {"name": "ids", "in": "query", **texts},
                {"name": "tags", "in": "query", "collectionFormat": "multi", **texts},
                {"$ref": "#/parameters/Page"},
            ],
            "responses": {
                200: {"description": "ok", "schema": {"$ref": "#/definitions/A"}},
                "default": {"description": "no"},
            },
        },
        path="/x/{id}",
        parameters={
            "Page": {"name": "page", "in": "query", "type": "integer", "minimum": 1, "default": 1}
        },
        definitions={"A": {"type": "object", "properties": {"a": {"$ref": "#/definitions/A"}}}},
        security=[{"key": []}],
    )
    assert protocol.binding.url == "https://a.example/v1/x/{id}"
    assert protocol.binding.credentials == ("key",)
    assert protocol.parameters == {
        "id": {"type": "integer", "format": "int64"},
        "ids": {**texts, "x-atc-join": ","},
        "tags": texts,
        "page": {"type": "integer", "minimum": 1, "default": 1},
    }
    assert protocol.output_schema["$defs"]["A"]["properties"]["a"] == {"$ref": "#/$defs/A"}
    assert protocol.errors == (ErrorOutcome(status="default", description="no"),)


@pytest.mark.parametrize("reader", [swagger, only])
def test_swagger_bodies_work_in_newer_documents(reader):
    payload = {"name": "payload", "in": "body", "schema": NAMED}
    protocol = reader({"parameters": [payload]}, method="post")
    assert (protocol.binding.locations, protocol.required) == (
        {"name": "body", "tag": "body"},
        {"name"},
    )


def test_swagger_forms():
    fields = [
        {"name": "url", "in": "formData", "type": "string", "required": True},
        {"name": "file", "in": "formData", "type": "file"},
    ]
    protocol = swagger({"parameters": fields}, method="post")
    assert protocol.binding.locations == {"url": "form", "file": "form"}
    assert protocol.required == {"url"}


def test_swagger_responses_without_schema_stay_undescribed():
    page = {"produces": ["text/html"], "responses": {"200": {"description": "a page"}}}
    assert swagger(page).output_schema == {"type": "string"}


@pytest.mark.parametrize(
    ("change", "where", "url"),
    [
        ({"schemes": ["http"]}, "d.json", "http://a.example/v1/x"),
        (
            {"host": None, "schemes": None},
            "http://127.0.0.1:8/swagger.json",
            "http://127.0.0.1:8/v1/x",
        ),
    ],
)
def test_where_a_swagger_service_runs(change, where, url):
    assert swagger({}, where=where, **change).binding.url == url


def test_fastapi_s_operation_ids_lose_their_path():
    paths = {
        "/orders": {
            "get": {"operationId": "list_orders_orders_get"},
            "post": {"operationId": "add_orders_post"},
        },
        "/orders/{id}": {"get": {"operationId": "get_order_orders__id__get"}},
        "/a": {"get": {"operationId": "show_a_get"}},
        "/b": {"get": {"operationId": "show_b_get"}},
    }
    told = {"openapi": "3.1.0", "servers": [{"url": "https://a.example"}], "paths": paths}
    names = [protocol.name for protocol in read_openapi(told, where="d")]
    assert names == ["list_orders", "add", "get_order", "show_a_get", "show_b_get"], (
        "two of one name keep theirs"
    )
