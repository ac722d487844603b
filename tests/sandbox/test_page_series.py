"""How the host follows the pages of a list, over HTTP."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.paging.services import WAYS, make_records, serve
from protocols.client import Invoker
from protocols.sources.openapi import read_openapi
from protocols.tool import Tool
from sandbox.page_series import MOST_EMPTY_PAGES
from tests.labs.paged_lists import NUMBER, TEXT, read, read_pages


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


@pytest.mark.parametrize("size", [1, 2])
def test_last_of_pages_from_zero_ends_the_series(size):
    """Its number is less than the number of pages, which asks for no further page."""

    def answer(query, _):
        page = int(query.get("page", 0))
        rows = [{"n": n} for n in range(3)][page * size :][:size]
        return {"items": rows, "page": {"number": page, "totalPages": -(-3 // size)}}, {}

    _, calls, _ = read(answer, page=NUMBER)
    assert len(calls) == -(-3 // size)


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
