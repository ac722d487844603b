"""Stubs: what a prompt shows of a tool."""

import ast
from dataclasses import replace

import pytest

from protocols.protocol import Link, ToolProtocol
from protocols.render import (
    DETAILS,
    FULL,
    Detail,
    describe_within_budget,
    first_sentences,
    signature_line,
    stubs,
    token_estimate,
)
from protocols.sources.openapi import read_openapi
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.tools import tool


def nobody(arguments):
    raise AssertionError("rendering calls no tool")


def protocol(name="list_departures", output=None, **parameters):
    return tool(
        name, None, parameters, output, description="Departures of a day. One page at a time."
    ).protocol


FLIGHT = {
    "type": "object",
    "properties": {
        "flight_id": {"type": "string"},
        "delay": {"type": ["integer", "null"], "description": "Minutes late"},
        "gate": {"type": "string"},
    },
    "required": ["flight_id", "delay"],
}
PAGE = {
    "type": "object",
    "properties": {"flights": {"type": "array", "items": FLIGHT}, "pages": {"type": "integer"}},
    "required": ["flights", "pages"],
}


def box(*protocols):
    return Toolbox([Tool(protocol=p, call=nobody) for p in protocols])


def test_stubs_show_arguments_docs_and_response():
    tools = box(
        protocol(
            output=PAGE,
            origin={"type": "string", "description": "Airport code", "enum": ["JFK", "LGA"]},
            date={
                "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
                "description": "Local day",
            },
            page={"type": "integer", "default": 1},
        )
    )
    assert (
        stubs(tools)
        == '''\
class Flight(TypedDict):
    flight_id: str
    delay: int | None  # Minutes late
    gate: str  # may be absent

class Departures(TypedDict):
    flights: list[Flight]
    pages: int

def list_departures(*, origin: Literal['JFK', 'LGA'], date: str | None, page: int = 1) -> Departures:
    """Departures of a day. One page at a time.

    origin: Airport code
    date: Local day (YYYY-MM-DD)
    """'''.replace("\n\nclass Dep", "\n\nclass Dep")
    )


def test_equal_shapes_are_declared_once():
    text = stubs(box(protocol("a", output=PAGE), protocol("b", output=PAGE)))
    assert text.count("(TypedDict)") == 2


def test_stubs_are_python_whatever_the_schema():
    odd = {
        "type": "object",
        "properties": {
            "from": {"type": "string"},
            "a-b": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "map": {"type": "object", "additionalProperties": {"type": "number"}},
            "all": {"allOf": [{"type": "object", "properties": {"x": {"type": "string"}}}]},
            "any": {},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            "text": {"type": "string", "description": 'quotes """ and \\ and\nlines'},
        },
        "required": ["from"],
    }
    tools = box(
        protocol("weird-name", output=odd, **{"class": {"type": "string", "description": '"""'}})
    )
    for detail in (*DETAILS, FULL):
        ast.parse(stubs(tools, detail=detail))
    assert '"pair": list[int, str],' in stubs(tools)
    ast.parse(stubs(box(replace(protocol(), description='See "How to create an app."'))))


def test_a_recursive_schema_is_told_by_its_name():
    kids = {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}
    tree = {
        "$defs": {"Node": {"title": "Node", "type": "object", "properties": kids}},
        "$ref": "#/$defs/Node",
    }
    told = stubs(box(protocol(output=tree), protocol(name="again", output=tree)), detail=FULL)
    assert told.count("(TypedDict)") == 1
    assert "class Node(TypedDict):\n    kids: list[Node]" in told
    other = {"type": "object", "title": "Node", "properties": {"id": {"enum": ["Node"]}}}
    told = stubs(box(protocol(name="other", output=other), protocol(output=tree)))
    assert "kids: list[Node2]" in told
    assert "id: Literal['Node']" in told


def test_details_go_before_tools_do():
    described = {"type": "string", "description": "x" * 80}
    tools = box(
        *(
            protocol(f"tool_{n}", output=PAGE, date=described, **{f"extra_{n}": described})
            for n in range(8)
        )
    )
    everything = token_estimate(stubs(tools))
    text, kept = describe_within_budget(tools, budget=everything - 1)
    assert len(kept) == 8
    assert token_estimate(text) < everything
    assert len(describe_within_budget(tools, budget=1)[1]) == 1
    assert "flights: list[Flight]" in stubs(tools, detail=DETAILS[-2])
    assert "flights: list[dict]" in stubs(tools, detail=DETAILS[-1])


def test_an_argument_says_which_tool_yields_it():
    found = {
        "type": "object",
        "properties": {
            "airports": {
                "type": "array",
                "items": {"type": "object", "properties": {"code": {"type": "string"}}},
            }
        },
        "required": ["airports"],
    }
    consumer = replace(
        protocol("list_departures", origin={"type": "string", "description": "Airport code."}),
        links=(
            Link(argument="origin", tool="visited", path="codes[]", support="guessed"),
            Link(
                argument="origin",
                tool="search_airports",
                path="airports[].code",
                support="observed",
            ),
        ),
    )
    search = protocol("search_airports", output=found, query={"type": "string"})
    text = stubs(box(protocol("visited"), search, consumer))
    assert "def search_airports(*, query: str) -> list[Airport]:" in text
    assert 'origin: Airport code; from search_airports(…)[0]["code"]' in text


def named(*names):
    return Toolbox([Tool(protocol=protocol(name), call=nobody) for name in names])


def test_names_fit_a_budget_that_no_stubs_fit():
    tools = named(*(f"list_departures_{n}" for n in range(50)))
    text, kept = describe_within_budget(tools, budget=200, docs="names")
    assert 1 < len(kept) < 50
    assert text == "\n".join(kept)
    assert token_estimate(text) <= 200
    assert list(kept) == list(tools)[: len(kept)]
    assert len(kept) > len(describe_within_budget(tools, budget=200)[1])


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (
            "Round: WS World Series, ALCS and NLCS league championships, ALDS1 a division series.",
            "Then comes more.",
        ),
        ("A city, e.g. Boston, or an airport, i.e. Logan (no. 5 vs. no. 6).", "It is much more."),
        ("One of: a, b; c!", "Then there is far more that is to be said of it."),
    ],
)
def test_a_description_is_never_cut_inside_a_sentence(first, more):
    one = protocol(round={"type": "string", "description": f"{first} {more * 9}"})
    lines = [
        line.strip() for line in stubs(box(one), detail=Detail(comment_characters=50)).splitlines()
    ]
    assert f"round: {first} …" in lines
    assert (
        first_sentences(f"<p>{first} A <code>TaxID</code>.</p><p>More.</p>", 999)
        == f"{first} A TaxID. More."
    )


def test_components_keep_their_names_and_all_of_narrows():
    def ref(name):
        return {"$ref": f"#/components/schemas/{name}"}

    numbered = {"type": "object", "properties": {"id": {"type": "integer"}}}
    size = {"allOf": [{"enum": ["s", "m"]}, ref("Size")]}
    owner = {
        "allOf": [
            {"allOf": [{**numbered, "nullable": True}, {"required": ["id"]}]},
            {"properties": {"a": {}}},
        ]
    }
    pet = {
        "properties": {"tag": ref("Tag"), "category": ref("Category"), "size": size, "owner": owner}
    }
    content = {"application/json": {"schema": {"type": "array", "items": ref("Pet")}}}
    told = {
        "openapi": "3.1.0",
        "servers": [{"url": "https://a.example"}],
        "components": {
            "schemas": {
                "Tag": numbered,
                "Category": numbered,
                "Size": {"type": "string"},
                "Pet": pet,
            }
        },
        "paths": {
            "/pets": {
                "get": {
                    "operationId": "findPetsByStatus",
                    "responses": {"200": {"content": content}},
                }
            }
        },
    }
    (protocol,) = read_openapi(told, where="d")
    text = stubs(Toolbox([Tool(protocol=protocol, call=lambda _: None)]))
    assert "def findPetsByStatus() -> list[Pet]:" in text
    assert "class Tag(" in text
    assert "category: Category" in text
    assert "size: Literal['s', 'm']" in text
    assert "class Owner(TypedDict):\n    id: int\n    a: Any" in text


def test_distant_tools_have_required_arguments_only():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            **{f"o{n}": {"type": "integer"} for n in range(11)},
        },
        "required": ["a"],
    }
    near, far = (
        Tool(ToolProtocol(name=name, description="Finds.", input_schema=schema), lambda _: None)
        for name in ("near", "far")
    )
    text = stubs(Toolbox([near, far]), nearest=1)
    assert "def near(*, a: str, o0: int = ..., o1" in text
    assert (
        'def far(*, a: str) -> Any:\n    """Finds.\n\n'
        "    optional: o0, o1, o2, o3, o4, o5, o6, o7 and 3 more\n" in text
    )
    assert signature_line(far, whole=False) == "def far(*, a: str) -> Any: ...  # Finds."
