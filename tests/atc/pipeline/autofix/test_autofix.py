"""Mending what leaves one way to write it, and joining records through tools."""

from dataclasses import replace

import pytest

from atc.core.program import Program
from atc.pipeline.autofix import autofix
from atc.pipeline.autofix.page_loops import read_every_page
from atc.pipeline.autofix.paging import unread_pages
from atc.pipeline.check import check
from protocols.protocol import HttpBinding, Link
from protocols.toolbox import Toolbox
from sandbox.page_series import PageSeries
from sandbox.trace import ToolCall, Trace
from tests.labs.paths import DATA
from tests.labs.tools import record, tool

CODE = {"type": "string", "pattern": "^[A-Z]{3}$"}


TOOLS = Toolbox(
    [
        tool(
            "search_cities",
            None,
            {"query": "string"},
            record(cities={"type": "array", "items": record(code=CODE, title="string")}),
        ),
        tool("get_city", None, {"city": CODE}, record(title="string", mayor_id="string")),
        tool(
            "list_trains",
            None,
            {
                "city": CODE,
                "page": "integer",
                "page_size": {"type": "integer", "default": 20, "maximum": 100},
            },
            record(
                trains={"type": "array", "items": record(train_id="string", line="integer")},
                page="integer",
                pages="integer",
            ),
            links=(Link(argument="city", tool="search_cities", path="cities[].code"),),
            optional=("page", "page_size"),
        ),
        tool(
            "get_train",
            None,
            {"train_id": "string"},
            record(train_id="string", driver_id="string", wagons="integer"),
        ),
        tool(
            "get_driver", None, {"driver_id": "string"}, record(driver_id="string", age="integer")
        ),
        tool(
            "get_depot", None, {"train_id": "string"}, record(train_id="string", weight="integer")
        ),
        tool("get_yard", None, {"train_id": "string"}, record(train_id="string", weight="integer")),
        tool("stop_train", None, {"train_id": "string"}, record(reason="string"), reads=False),
    ]
)


def mended(source):
    program = Program(source)
    for _ in range(3):
        findings = check(program, TOOLS)
        if not findings:
            return program.source
        program = autofix(program, findings, TOOLS)
        if program is None:
            return None
    return None


CASES = dict(case.split("\n", 1) for case in (DATA / "mends.txt").read_text().split("\n== ")[1:])


@pytest.mark.parametrize("case", CASES)
def test_only_a_sole_way_to_write_is_mended(case):
    written, meant = CASES[case].rstrip("\n").split("\n->")
    assert mended(written) == (meant.removeprefix("\n") or None)


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


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("list_trains(city='AMS')", [({"city": "AMS"}, page(1, 1))]),  # there is only one
        ("loop", [({"city": "AMS", "page": n}, page(n, 2)) for n in (1, 2)]),  # all were read
        ("loop", [({"city": "AMS", "page": n}, page(n, 3)) for n in (0, 1, 2)]),  # from 0 on
    ],
)
def test_pages_that_were_read_are_not_unread(source, calls):
    assert unread_pages(Program(source), trace(*calls), TOOLS) == ()


def test_a_page_may_be_read_by_any_argument():
    made = tool("list_trains", None, {"n": "integer", "last": "string"})
    binding = HttpBinding(method="GET", url="https://a.example/trains")
    listing = Toolbox([replace(made, protocol=replace(made.protocol, binding=binding))])
    link = {"link": '</trains?last=b&n=2>; rel="next"'}
    calls = trace(({"n": 2}, ["a", "b"]), ({"n": 2, "last": "b"}, ["c"])).calls
    found = Trace(calls=(replace(calls[0], headers=link), calls[1]))
    assert unread_pages(Program("loop"), found, listing) == ()


ITEMS = "def items(result):\n    return result['trains']\n"


@pytest.mark.parametrize(
    ("task", "sorting", "unread"),
    [
        ("the first three trains", {}, False),
        ("the first 3 trains", {}, False),
        ("the trains", {"_sort": ["line"]}, False),
        ("the trains", {"$orderby": "line"}, False),
        ("the trains", {}, True),
    ],
)
def test_rows_that_were_asked_for_are_enough(task, sorting, unread):
    listing = tool("list_trains", None, {"limit": "integer", **{name: {} for name in sorting}})
    sorts = {one: sorting[name] for one, name in listing.arguments.items() if name in sorting}
    made = {"limit": 3, **sorts}
    rows = {"trains": [1, 2, 3], "next_cursor": "c3"}
    program = Program("print(list_trains(limit=3)['trains'])")
    found = unread_pages(program, trace((made, rows)), Toolbox([listing]), task=task)
    assert bool(found) == unread


@pytest.mark.parametrize(
    ("source", "unread"),
    [
        ("next(t for t in items(list_trains(city='AMS')) if t['line'] == 1)", False),
        ("found = items(list_trains(city='AMS'))\nfound[0]", False),
        ("next((t for t in items(list_trains(city='AMS')) if t['line'] == 7), None)", True),
        ("len(items(list_trains(city='AMS')))", True),
    ],
)
def test_a_first_match_needs_no_further_page(source, unread):
    found = unread_pages(Program(ITEMS + source), trace(({"city": "AMS"}, page(1, 3))), TOOLS)
    assert bool(found) == unread


@pytest.mark.parametrize(("size", "left"), [(5, True), (50, False)])
def test_few_rows_requested_may_be_all_wanted(size, left):
    program = Program(f"print(list_trains(city='AMS', page_size={size})['trains'])")
    unread = unread_pages(program, trace(({"city": "AMS", "page_size": size}, page(1, 2))), TOOLS)
    assert (read_every_page(program, unread[0], TOOLS) is None) == left


ORDERS = [{"order_id": n} for n in range(60)]


def rows_tool(name, *, wrapped=False, page=None, most=None, description=""):
    """A tool that gives 20 rows of 60, or as many as `limit` says, from the place that `page` asks for."""
    limit = {"type": "integer", "default": 20} | ({"maximum": most} if most else {})
    parameters = {"limit": limit} | ({page: {"type": "integer"}} if page else {})
    rows = {"type": "array", "items": record(order_id="integer")}
    output = record(orders=rows, at="string") if wrapped else rows
    return tool(name, None, parameters, output, optional=parameters, description=description)


def pages_of(made, asked, continues):
    """The builtin `pages`, for a function that notes its calls in `asked`."""

    def pages(function, **arguments):
        series = PageSeries(made)
        while arguments is not None:
            value = function(**arguments)
            step = series.take(
                ToolCall(index=0, tool=made.alias, arguments=arguments, line=1, result=value)
            )
            if not step.skip:
                yield value
            if step.more:
                continues[len(asked)] = len(asked) - 1
            arguments = dict(series.following.arguments) if step.more else None

    return pages


def answered(source, made, asked):
    """What a program prints, read by pages where that is called for; and whether its result is still doubted."""

    def call(**arguments):
        size, start = (
            arguments.get("limit", 20),
            arguments.get("offset", 20 * (arguments.get("page", 1) - 1)),
        )
        rows = ORDERS[start : start + size]
        asked.append(
            (
                arguments,
                {"orders": rows, "at": "noon"}
                if made.protocol.output_schema.get("properties")
                else rows,
            )
        )
        return asked[-1][1]

    def run(program):
        asked.clear()
        printed = []
        continues = {}
        exec(
            program.source,
            {made.alias: call, "print": printed.append, "pages": pages_of(made, asked, continues)},
        )
        calls = (
            ToolCall(
                index=n,
                tool=made.alias,
                arguments=given,
                line=1,
                result=result,
                continues=continues.get(n),
            )
            for n, (given, result) in enumerate(asked)
        )
        return printed[0], unread_pages(program, Trace(calls=tuple(calls)), Toolbox([made]))

    program = Program(source)
    printed, unread = run(program)
    better = read_every_page(program, unread[0], Toolbox([made])) if unread else None
    return (printed, bool(unread)) if better is None else (run(better)[0], False)


@pytest.mark.parametrize(
    ("source", "made", "told"),
    [
        ("print(len(rows()))", rows_tool("rows", page="offset"), (60, False)),
        (
            "print(len(rows()['orders']))",
            rows_tool("rows", wrapped=True, page="offset"),
            (60, False),
        ),
        ("print(len(rows()))", rows_tool("rows", most=100), (60, False)),
        (
            "print(len(rows()))",
            rows_tool("rows"),
            (20, True),
        ),  # nothing tells how more is asked for: it is doubted
        ("print(len(rows(limit=20, offset=10)))", rows_tool("rows", page="offset"), (20, True)),
        (
            "print(max(r['order_id'] for r in rows(limit=20, offset=45)))",
            rows_tool("rows", page="offset"),
            (59, False),
        ),
    ],
)
def test_a_full_page_is_read_on(source, made, told):
    assert answered(source, made, []) == told


@pytest.mark.parametrize(
    "source",
    [
        "near = rows()\nprint(near[0]['order_id'])",
        "near = rows()\nprint(near[0]['order_id'] if near else None)",
        "near = rows()\nif not near:\n    print(None)\nfirst = near[0]\nprint(first['order_id'])",
    ],
)
def test_taking_the_first_rows_stays_unchanged(source):
    asked = []
    assert answered(
        source, rows_tool("rows", page="offset", description="Orders, nearest first."), asked
    ) == (0, False)
    assert len(asked) == 1


def test_a_responses_key_stays_text_in_mended_programs():
    key, printed = 'rows"] + [print("hostile")] + [""][0:0] + page["', []
    parameters = {"limit": {"type": "integer", "default": 2}, "offset": {"type": "integer"}}
    made = tool("rows", None, parameters, None, optional=parameters)
    program, first = Program("print(len(rows()))"), {"at": "noon", key: [1, 2]}
    found = Trace(calls=(ToolCall(index=0, tool="rows", arguments={}, line=1, result=first),))
    better = read_every_page(
        program, unread_pages(program, found, Toolbox([made]))[0], Toolbox([made])
    )
    exec(
        better.source,
        {"rows": None, "pages": lambda *_: [{key: [1, 2]}, {key: [3]}], "print": printed.append},
    )
    assert printed == [1], better.source


def films(*links):
    """Return tools for films and episodes. `links` are links to the films' `id`."""
    film = record(
        id="integer",
        video="boolean",
        total_results="integer",
        score_max="number",
        runtime="integer",
        maker=record(name="string", founded="integer"),
    )
    episode = record(id="integer", title="string")
    return Toolbox(
        [
            tool("get_film", None, {"id": "integer"}, film, links=links),
            tool("get_episode", None, {"number": "integer"}, episode),
        ]
    )


@pytest.mark.parametrize(
    "read",
    [
        "get_film(id=1)['videos']['results']",  # `video` is a boolean
        "get_film(id=1)['results'][:3]",  # `total_results` is a number
        "get_film(id=1)['score_mean']",  # a maximum is no mean
        "get_film(id=1)['name']",  # that of its maker
        "get_episode(number=1)['runtime']",  # the id of an episode is no film's
    ],
)
def test_only_the_same_thing_replaces_a_key(read):
    program = Program(f"print({read})")
    findings = check(program, films())
    assert len(findings) == 1
    assert autofix(program, findings, films()) is None


def test_a_link_makes_an_id_the_argument():
    link = Link(argument="id", tool="get_episode", path="id", support="declared")
    program = Program("print(get_episode(number=1)['runtime'])")
    fixed = autofix(program, check(program, films(link)), films(link))
    assert fixed.source == 'print(get_film(id=get_episode(number=1)["id"])["runtime"])'


def test_an_inner_key_that_fits_is_added():
    program = Program("print(get_film(id=1)['founded'] - 1)")
    fixed = autofix(program, check(program, films()), films())
    assert fixed.source == "print(get_film(id=1)['maker']['founded'] - 1)"
