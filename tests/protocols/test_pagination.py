"""Which arguments page, and what a response says about pages."""

from __future__ import annotations

import pytest

from protocols.pagination import find_rows, page_role, read_signs

NUMBER, TEXT, DATE = {"type": "integer"}, {"type": "string"}, {"type": "string", "format": "date"}


@pytest.mark.parametrize(
    ("name", "schema", "role"),
    [
        ("pageNumber", NUMBER, "number"),
        ("page[number]", NUMBER, "number"),
        ("$skip", NUMBER, "offset"),
        ("start", NUMBER, "offset"),
        ("start", DATE, None),
        ("after", TEXT, "token"),
        ("after", DATE, None),
        ("nextPageToken", TEXT, "token"),
        ("per_page", NUMBER, "size"),
        ("count", TEXT, None),
        ("homepage", TEXT, None),
    ],
)
def test_arguments_that_page_are_known(name, schema, role):
    assert page_role(name, schema) == role


@pytest.mark.parametrize(
    ("value", "headers", "more", "total"),
    [
        ([], {"x-next-page": ""}, False, None),
        ([], {"x-next-page": "2", "x-total": "130"}, True, 130),
        ([], {"x-wp-total": "7", "x-wp-totalpages": "3"}, None, 7),
        ([], {"x-pagination": '{"TotalCount": 9, "HasNext": true}'}, True, 9),
        ([], {"content-range": "items 0-99/130"}, True, 130),
        ([], {"content-range": "items 100-129/130"}, False, 130),
        ([], {"link": '</a>; rel="prev"'}, False, None),
        ({"rows": [1], "has_more": False, "next_cursor": "x"}, {}, False, None),
        ({"rows": [1], "page": 1, "pages": 3}, {}, True, None),
        ({"content": [1], "last": True, "number": 0, "totalPages": 1}, {}, False, None),
        ({"rows": [1], "next_update": "2026-01-01", "total_price": 9}, {}, None, None),
        ({"rows": [{"next": "x"}]}, {}, None, None),
        ({"rows": [1], "page": {"number": 0, "totalPages": 1}}, {}, False, None),
        ({"rows": [1], "page": {"number": 0, "totalPages": 2}}, {}, True, None),
        ({"took": 1, "hits": {"total": {"value": 9, "relation": "eq"}, "hits": [1]}}, {}, None, 9),
        ({"users": [], "topics": {"list": [1], "more_topics_url": "/a?p=1"}}, {}, True, None),
        ({"data": [1], "meta": {"filter_count": 5, "total_count": 9}}, {}, None, 5),
        ({"rows": [1], "paging": {"next": {"after": "1", "link": "/a?after=1"}}}, {}, True, None),
        ({"items": [1], "metadata": {"continue": "x"}}, {}, True, None),
        ({"items": [1], "metadata": {"continue": ""}}, {}, False, None),
        ({"query": {"pages": [1]}, "continue": {"apcontinue": "B"}}, {}, True, None),
        ({"rows": [1], "stats": {"total": 9, "buckets": [1]}}, {}, None, None),
    ],
)
def test_responses_say_if_there_are_more(value, headers, more, total):
    signs = read_signs(value, headers)
    assert (signs.more, signs.total) == (more, total)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ([1], ()),
        ({"flights": [1], "page": 1}, ("flights",)),
        ({"items": [1], "errors": []}, ("items",)),
        ({"hits": {"hits": [1], "total": 3}}, ("hits", "hits")),
        ({"item": [1], "link": [2]}, ("item",)),
        ({"left": [1], "right": [2]}, None),
        ("text", None),
    ],
)
def test_rows_are_found_where_it_is_clear(value, path):
    rows = find_rows(value)
    assert (rows.path if rows is not None else None) == path
