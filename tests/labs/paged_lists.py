"""Reads the pages of a list as a program's `pages(…)` does, from a service on loopback."""

from __future__ import annotations

from protocols.client import Invoker
from protocols.tool import Tool
from sandbox.page_series import PageSeries
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


def read(answer, *, path="/items", method="GET", most=60, arguments=None, **properties):
    """The pages, calls and request targets of a list whose service answers with (body, headers)."""

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
