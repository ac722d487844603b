"""The request of the next page, from what a service announces."""

from __future__ import annotations

import pytest

from protocols.next_page import Page, UnreadablePage, next_page
from protocols.tool import Tool
from tests.labs.loopback import http_tool
from tests.labs.paged_lists import NUMBER, TEXT, read


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


def test_arguments_of_any_name_may_continue():
    """As long as the address changes nothing that pages, such as `n` and `last` of a registry."""

    def answer(query, _):
        last = int(query.get("last", 0))
        more = {"Link": f"</items?last={last + 1}&n=1>; rel=next"} if last < 3 else {}
        return [{"n": last}], more

    pages, _, _ = read(answer, n=NUMBER, last=TEXT)
    assert [page[0]["n"] for page in pages] == [0, 1, 2, 3]
