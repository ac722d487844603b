"""Mending what leaves one way to write it, and joining records through tools."""

import pytest

from atc.check import check
from atc.mend import look_up_names, mend
from atc.mend.join import argument_lookup, lookup
from atc.mend.paging import read_every_page, unread_pages
from atc.types import Fault, Program
from protocols.protocol import Annotations, Link, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall, Trace

CODE = {"type": "string", "pattern": "^[A-Z]{3}$"}


def record(**properties):
    types = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()}
    return {"type": "object", "properties": types, "required": list(types), "additionalProperties": False}


def tool(name, parameters, output, *, links=(), optional=(), reads=True):
    return Tool(
        protocol=ToolProtocol(
            name=name,
            input_schema={
                "type": "object",
                "properties": {k: {"type": v} if isinstance(v, str) else v for k, v in parameters.items()},
                "required": [key for key in parameters if key not in optional],
            },
            output_schema=output,
            annotations=Annotations(read_only=reads),
            links=tuple(Link(argument=a, tool=t, path=p) for a, t, p in links),
        ),
        call=print,
    )


TOOLS = Toolbox(
    [
        tool(
            "search_cities",
            {"query": "string"},
            record(cities={"type": "array", "items": record(code=CODE, title="string")}),
        ),
        tool("get_city", {"city": CODE}, record(title="string", mayor_id="string")),
        tool(
            "list_trains",
            {"city": CODE, "page": "integer", "page_size": {"type": "integer", "maximum": 100}},
            record(
                trains={"type": "array", "items": record(train_id="string", line="integer")},
                page="integer",
                pages="integer",
            ),
            links=[("city", "search_cities", "cities[].code")],
            optional=("page", "page_size"),
        ),
        tool("get_train", {"train_id": "string"}, record(train_id="string", driver_id="string", wagons="integer")),
        tool("get_driver", {"driver_id": "string"}, record(driver_id="string", age="integer")),
        tool("stop_train", {"train_id": "string"}, record(reason="string"), reads=False),
    ]
)


def mended(source):
    program = Program(source)
    for _ in range(3):
        findings = check(program, TOOLS)
        if not findings:
            return program.source
        program = mend(program, findings, TOOLS)
        if program is None:
            return None
    return None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("print(get_city(code='AMS'))", "print(get_city(city='AMS'))"),
        ("print(get_city('AMS'))", "print(get_city(city='AMS'))"),
        (
            "for t in list_trains(city='AMS'):\n    print(t['line'])",
            "for t in list_trains(city='AMS')['trains']:\n    print(t['line'])",
        ),
        ("print(list_trains(city='AMS')[0])", "print(list_trains(city='AMS')['trains'][0])"),
        ("print(get_city(city='AMS').title)", "print(get_city(city='AMS')['title'])"),
        ("print(get_city(city='AMS')['titel'])", "print(get_city(city='AMS')['title'])"),
        ("print(math.pi)", "import math\nprint(math.pi)"),
        (
            "print(list_trains(city='Amsterdam')['pages'])",
            "print(list_trains(city=search_cities(query='Amsterdam')[0][\"code\"])['pages'])",
        ),
        (
            "t = list_trains(city='AMS')['trains'][0]\nprint(t['wagons'])",
            "t = list_trains(city='AMS')['trains'][0]\nprint(get_train(train_id=t[\"train_id\"])[\"wagons\"])",
        ),
        (
            "t = list_trains(city='AMS')['trains'][0]\nprint(t.get('age'))",
            "t = list_trains(city='AMS')['trains'][0]\n"  # noqa: ISC004 - two lines of one program
            'print(get_driver(driver_id=get_train(train_id=t["train_id"])["driver_id"])["age"])',
        ),
        (
            "def get_city(*, city):\n    return {'title': 'x'}\nprint(get_city(city='AMS')['title'])",
            "\nprint(get_city(city='AMS')['title'])",
        ),
        ("from tools import get_city\nprint(get_city(city='AMS')['title'])", "\nprint(get_city(city='AMS')['title'])"),
        ("größe = get_city(stadt='AMS')['title']\nprint(größe)", "größe = get_city(city='AMS')['title']\nprint(größe)"),
    ],
)
def test_what_leaves_one_way_is_mended(written, meant):
    assert mended(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "print(no_such_tool())",
        "print(get_city(city='AMS')['colour'])",  # no tool has it
        "print(list_trains())",  # which city?
        "print(get_city(city='Amsterdam'))",  # nobody says where this tool's codes come from
        "t = list_trains(city='AMS')['trains'][0]\nprint(t['reason'])",  # only a write would give it
        "print(",
        "get_city = 5\nprint(get_city(city='AMS'))",
        "def get_city(*, city):\n    return {}",  # nothing would be left
        "from tools import get_city, get_mayor\nprint(get_city(city='AMS')['title'], get_mayor)",
    ],
)
def test_what_leaves_a_choice_is_left_to_the_model(written):
    assert mended(written) is None


def test_the_shortest_way_to_a_field_wins_and_a_tie_is_none():
    assert lookup("wagons", ["train_id"], TOOLS) == 'get_train(train_id={}["train_id"])["wagons"]'
    twins = Toolbox(tool(f"get_{n}", {"id": "string"}, record(size="integer", id="string")) for n in ("a", "b"))
    assert lookup("size", ["id"], twins) is None
    assert lookup("size", ["other"], twins) is None


def test_an_argument_takes_the_key_of_its_name_or_looks_it_up():
    assert argument_lookup("driver_id", ["driver_id"], TOOLS) == '{}["driver_id"]'
    assert argument_lookup("driver_id", ["train_id"], TOOLS) == 'get_train(train_id={}["train_id"])["driver_id"]'
    assert argument_lookup("driver_id", ["line"], TOOLS) is None


def refused(source, call, *, before=()):
    """The trace of a program whose last call was refused, and the fault of its argument."""
    failed = ToolCall(index=len(before), error="no such city", status=404, outcome="refused", **call)
    fault = Fault(kind="bad_arguments", message="", call=failed.index, tool=call["tool"], path="city")
    return look_up_names(Program(source), fault, Trace(calls=(*before, failed)), TOOLS)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (
            "print(list_trains(city='Amsterdam'))",
            "print(list_trains(city=search_cities(query='Amsterdam')[0][\"code\"]))",
        ),
        (
            "for ü in ['Amsterdam']:\n    print(list_trains(city=ü))",
            "for ü in ['Amsterdam']:\n    print(list_trains(city=search_cities(query=ü)[0][\"code\"]))",
        ),
    ],
)
def test_a_name_that_a_tool_refused_is_looked_up(written, meant):
    line = len(written.splitlines())
    assert refused(written, {"tool": "list_trains", "arguments": {"city": "Amsterdam"}, "line": line}).source == meant


@pytest.mark.parametrize(
    ("written", "tool", "value"),
    [
        ("print(list_trains(city='XX1'))", "list_trains", "XX1"),  # no name
        ("print(list_trains(city=5))", "list_trains", 5),
        ("print(get_city(city='Amsterdam'))", "get_city", "Amsterdam"),  # nobody says where its codes come from
        ("print(list_trains(city='Amster' + 'dam'))", "list_trains", "Amsterdam"),
        ("print(list_trains(city='Amsterdam'), list_trains(city='Amsterdam'))", "list_trains", "Amsterdam"),
    ],
)
def test_what_is_no_plain_name_is_not_looked_up(written, tool, value):
    assert refused(written, {"tool": tool, "arguments": {"city": value}, "line": 1}) is None


def test_a_value_that_a_response_gave_is_not_looked_up():
    given = ToolCall(index=0, tool="get_city", arguments={"city": "AMS"}, line=1, result={"title": "Amsterdam"})
    source = "t = get_city(city='AMS')['title']\nprint(list_trains(city=t))"
    call = {"tool": "list_trains", "arguments": {"city": "Amsterdam"}, "line": 2}
    assert refused(source, call, before=(given,)) is None
    assert refused(source, call) is not None


def trace(*calls):
    return Trace(
        calls=tuple(
            ToolCall(index=n, tool="list_trains", arguments=arguments, line=1, result=result)
            for n, (arguments, result) in enumerate(calls)
        ),
        stdout="2",
    )


def page(number, of):
    return {"trains": [{"train_id": f"t{number}", "line": 1}], "page": number, "pages": of}


def test_every_page_is_read_with_the_largest_page_size():
    program = Program("print(len(list_trains(city='AMS')['trains']))\n")
    unread = unread_pages(program, trace(({"city": "AMS"}, page(1, 3))), TOOLS)
    better = read_every_page(program, unread[0], TOOLS)
    asked = []

    def list_trains(**arguments):
        asked.append(arguments)
        return page(arguments.get("page", 1), 3)

    printed = []
    exec(better.source, {"list_trains": list_trains, "print": printed.append})
    assert printed == [3]
    assert asked[0] == {"page_size": 100, "city": "AMS"}
    assert [arguments.get("page") for arguments in asked] == [None, 2, 3]
    assert check(better, TOOLS) == ()


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("list_trains(city='AMS')", [({"city": "AMS"}, page(1, 1))]),  # there is only one
        ("loop", [({"city": "AMS", "page": n}, page(n, 2)) for n in (1, 2)]),  # all were read
    ],
)
def test_pages_that_were_read_are_not_unread(source, calls):
    assert unread_pages(Program(source), trace(*calls), TOOLS) == ()


def test_a_program_that_turns_pages_itself_is_left_as_it_is():
    program = Program("print(list_trains(city='AMS', page=1))")
    unread = unread_pages(program, trace(({"city": "AMS", "page": 1}, page(1, 2))), TOOLS)
    assert len(unread) == 1
    assert read_every_page(program, unread[0], TOOLS) is None
