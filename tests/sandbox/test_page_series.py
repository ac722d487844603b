"""How the host follows the pages of a list, over HTTP."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.paging.services import WAYS, make_records, serve
from protocols.client import Invoker
from protocols.next_page import Page, UnreadablePage, next_page
from protocols.sources.openapi import read_openapi
from protocols.tool import Tool
from sandbox.page_series import MOST_EMPTY_PAGES, PageSeries
from sandbox.trace import ToolCall
from tests.labs.loopback import Reply, http_tool, serving

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}


def read_pages(tool, *, most=60, **arguments):
    """The pages that a program gets, and the calls that the host makes for them."""
    series, pages, calls = PageSeries(tool), [], []
    query = {}
    for index in range(most):
        response = tool.send(tool.original_arguments(arguments), query=query)
        call = ToolCall(
            index=index, tool=tool.alias, arguments=arguments, line=1, query=query,
            result=response.value, headers=response.headers,
        )  # fmt: skip
        calls.append(call)
        step = series.take(call)
        if not step.skip:
            pages.append(tool.unwrap(response.value))
        if not step.more:
            return pages, calls
        arguments, query = dict(series.following.arguments), series.following.query
    return pages, calls


def rows_of(pages, path):
    rows = []
    for page in pages:
        for key in path:
            page = page[key]
        rows += page
    return rows


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
@settings(max_examples=8, deadline=None)
@given(total=st.one_of(st.sampled_from([0, 1, 50, 100, 101]), st.integers(0, 330)))
def test_all_pages_have_each_row_once(way, total):
    """Whatever the way of paging, also with the largest page that a program can ask for."""
    with serve(way, total) as service, Invoker() as invoker:
        document = json.dumps(way.document(service.address))
        (protocol,) = read_openapi(json.loads(document), where=f"{service.address}/openapi.json")
        tool = Tool(protocol, invoker.bind(protocol))
        asked = dict([way.asks.split("=")]) if way.asks else {}
        for arguments in ({}, {name: int(value) for name, value in asked.items()}):
            pages, calls = read_pages(tool, **arguments)
            assert rows_of(pages, way.path if tool.wrapper is None else ()) == make_records(total)
            assert len(calls) <= total / 20 + 2


def read(answer, *, path="/items", method="GET", most=60, arguments=None, **properties):
    def reply(seen):
        body, headers = answer(dict(seen.query), seen)
        return Reply(200, body, headers)

    with serving(reply) as service, Invoker() as invoker:
        protocol = http_tool(
            service.url + path, method, name="list_items", read_only=True, properties=properties
        )
        pages, calls = read_pages(
            Tool(protocol, invoker.bind(protocol)), most=most, **(arguments or {})
        )
        return pages, calls, [seen.target for seen in service.seen]


def two_pages(link):
    """A service whose first page names the second one with this `Link`."""

    def answer(query, seen):
        if len(query) > 0:
            return [{"n": 2}], {"Link": '</items>; rel="first"'}
        return [{"n": 1}], {"Link": link.replace("HERE", f"http://{seen.headers['host']}")}

    return answer


@pytest.mark.parametrize(
    "link",
    [
        '<HERE/items?cursor=x>; rel="next"',
        "</items?cursor=x>; rel=next",
        "<?cursor=x>; rel=next",
        "<items?cursor=x>;title=\"a, b\"; rel='next'; rel=prev",
        '</items?cursor=x#end>; rel="next last"',
        '</items>; rel="first", </items?cursor=x>; title="a;b,c"; REL="Next", </items?p=9>; rel=last',
    ],
)
def test_link_headers_are_read_in_all_spellings(link):
    pages, _, targets = read(two_pages(link))
    assert pages == [[{"n": 1}], [{"n": 2}]]
    assert targets == ["/items", "/items?cursor=x"]


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("<https://127.0.0.1/items?cursor=x>; rel=next", "another origin"),
        ("<http://127.0.0.1:9/items?cursor=x>; rel=next", "another origin"),
        ("<http://elsewhere.example/items?cursor=x>; rel=next", "another origin"),
        ("</others?cursor=x>; rel=next", "another path"),
        ("</items/../others?cursor=x>; rel=next", "another path"),
        ("<http://ada:pw@127.0.0.1/items?cursor=x>; rel=next", "without a login"),
        ("<file:///items?cursor=x>; rel=next", "no http"),
        ("</items?cursor=x&admin=true>; rel=next", "adds 'admin'"),
    ],
)
def test_other_addresses_are_not_requested(link, why):
    pages, calls, targets = read(two_pages(link))
    assert (pages, targets) == ([[{"n": 1}]], ["/items"])
    protocol = http_tool("http://127.0.0.1:1/items", name="list_items", read_only=True)
    tool = Tool(protocol, lambda _: None)
    found = next_page(tool, Page({}, {}, calls[0].result, {"link": link}))
    assert isinstance(found, UnreadablePage)
    assert why in found.why


CURSORS = {
    "meta": lambda c: {"meta": {"next_cursor": c}},
    "slack": lambda c: {"response_metadata": {"next_cursor": c or ""}},
    "graph": lambda c: {"paging": {"cursors": {"before": "b", **({"after": c} if c else {})}}},
    "google": lambda c: {"nextPageToken": c} if c else {},
    "graphql": lambda c: {"pageInfo": {"hasNextPage": c is not None, "endCursor": c or "end"}},
    "odata": lambda c: {"@odata.nextLink": f"/items?$skiptoken={c}"} if c else {},
    "hal": lambda c: {"_links": {"self": {"href": "/items"}, **({"next": {"href": f"/items?cursor={c}"}} if c else {})}},
    "drf": lambda c: {"count": 3, "next": c and f"/items?cursor={c}", "previous": None},
    "fhir": lambda c: {"link": [{"relation": "next", "url": f"/items?cursor={c}"}] if c else []},
}  # fmt: skip


@pytest.mark.parametrize("style", CURSORS)
def test_cursors_are_found_in_the_body(style):
    argument = {"google": "pageToken", "graph": "after", "graphql": "after"}.get(style, "cursor")

    def answer(query, _):
        start = int(next(iter(query.values()), "c0")[1:])
        more = CURSORS[style](f"c{start + 1}" if start < 2 else None)
        return {"items": [{"n": start}], **more}, {}

    pages, _, _ = read(answer, **{argument: TEXT})
    assert [page["items"] for page in pages] == [[{"n": 0}], [{"n": 1}], [{"n": 2}]]


def test_the_last_id_is_the_cursor():
    def answer(query, _):
        first = int(query.get("starting_after", 0)) + 1
        rows = [{"id": f"{n}"} for n in range(first, first + 2)]
        return {"data": rows, "has_more": first < 5}, {}

    pages, _, targets = read(answer, starting_after=TEXT, limit=NUMBER)
    assert len(pages) == 3
    assert targets[1:] == ["/items?starting_after=2", "/items?starting_after=4"]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("tells", [True, False])
def test_page_numbers_begin_at_zero_or_one(first, tells):
    """If nothing says at which, no row is lost or read twice."""

    def answer(query, _):
        page = int(query.get("page", first)) - first
        return [{"n": page}] if 0 <= page < 3 else [], {}

    page = {**NUMBER, "default": first} if tells else NUMBER
    pages, _, _ = read(answer, page=page)
    assert pages == [[{"n": 0}], [{"n": 1}], [{"n": 2}]]


def test_a_repeated_page_ends_the_series():
    """Also if each is announced with another cursor, or with the address of the page itself."""
    count = iter(range(1000))

    def new_cursor(*_):
        return {"items": [{"n": 1}], "next_cursor": f"c{next(count)}"}, {}

    def same_address(*_):
        return [{"n": 1}], {"Link": "</items?cursor=x>; rel=next"}

    def ignores_page(*_):
        return [{"n": 1}, {"n": 2}], {}

    assert len(read(new_cursor, cursor=TEXT)[1]) == 2
    assert len(read(same_address)[1]) == 2
    assert len(read(ignores_page, page={**NUMBER, "default": 1})[1]) == 2


def test_empty_pages_in_between_are_left_out():
    """A filter of the service may leave a page without rows; endless ones end the series."""

    def answer(query, _):
        start = int(query.get("cursor", 0))
        more = {"next_cursor": str(start + 1)} if start < 4 else {}
        return {"items": [{"n": start}] if start in (0, 4) else [], **more}, {}

    pages, calls, _ = read(answer, cursor=TEXT)
    assert ([page["items"] for page in pages], len(calls)) == ([[{"n": 0}], [{"n": 4}]], 5)

    def endless(query, _):
        return {"items": [], "next_cursor": str(int(query.get("cursor", 0)) + 1)}, {}

    assert len(read(endless, cursor=TEXT)[1]) <= MOST_EMPTY_PAGES + 2


def test_values_of_the_program_stay():
    """A next address changes those that page, and no others."""

    def answer(query, _):
        more = {"Link": "</items?owner=eve&per_page=100&page=2>; rel=next"}
        return [{"n": query.get("page", "1")}], {} if "page" in query else more

    _, calls, targets = read(
        answer, owner=TEXT, per_page=NUMBER, arguments={"owner": "ada", "per_page": 1000}
    )
    assert targets == ["/items?owner=ada&per_page=1000", "/items?owner=ada&per_page=100&page=2"]
    assert calls[1].arguments == {"owner": "ada", "per_page": 100}
    assert calls[1].query == {"page": "2"}


def test_a_body_is_sent_with_each_page():
    def answer(_, seen):
        asked = json.loads(seen.body)
        start = asked.get("offset", 0)
        return {"hits": [{"n": n} for n in range(start, min(start + 2, 5))], "total": 5}, {}

    pages, calls, _ = read(answer, method="POST", arguments={"q": "x"}, q=TEXT, offset=NUMBER)
    assert sum(len(page["hits"]) for page in pages) == 5
    assert [call.arguments for call in calls] == [
        {"q": "x"},
        {"q": "x", "offset": 2},
        {"q": "x", "offset": 4},
    ]
