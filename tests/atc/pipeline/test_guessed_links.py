"""Guessed links that the calls of a run contradict are dropped."""

import pytest

from atc.pipeline.guessed_links import drop_contradicted_links, find_proposable
from protocols.protocol import Link, ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

LINK = Link(argument="item_id", tool="get_order", path="items[].item_id", support="guessed")


def box(link=LINK):
    schema = {"type": "object", "properties": {"item_id": {"type": "string"}}}
    protocols = (
        ToolProtocol(name="swap", input_schema=schema, links=(link,)),
        ToolProtocol(name="get_order"),
        ToolProtocol(name="get_product"),
    )
    return Toolbox([Tool(protocol, lambda _: None) for protocol in protocols])


def call(tool, result=None, *, error=None, outcome="done", **arguments):
    return ToolCall(
        index=0, tool=tool, arguments=arguments, line=1, result=result, error=error, outcome=outcome
    )


ORDER = call("get_order", {"items": [{"item_id": "11"}]})
PRODUCT = call("get_product", {"variants": {"22": {"price": 3}}, "best": "22"})
REFUSED = {"error": "HTTP 400", "outcome": "refused"}


@pytest.mark.parametrize(
    ("calls", "links"),
    [
        ([ORDER], 1),
        ([ORDER, call("swap", item_id="11")], 1),
        ([ORDER, call("swap", item_id="11", **REFUSED)], 0),
        ([ORDER, call("swap", item_id="11", **REFUSED), call("swap", item_id="11")], 1),
        ([ORDER, PRODUCT, call("swap", item_id="22")], 0),
        ([ORDER, call("swap", item_id="from the task")], 1),
        ([call("swap", item_id="11", **REFUSED)], 1),
    ],
)
def test_observed_calls_outrank_guessed_links(calls, links):
    assert len(drop_contradicted_links(box(), calls)["swap"].protocol.links) == links


def test_declared_links_are_never_dropped():
    declared = Link(
        argument="item_id", tool="get_order", path="items[].item_id", support="declared"
    )
    calls = [ORDER, call("swap", item_id="11", **REFUSED)]
    assert drop_contradicted_links(box(declared), calls)["swap"].protocol.links == (declared,)


@pytest.mark.parametrize(
    ("maker", "support", "count"),
    [("get_order", "guessed", 1), ("create_order", "guessed", 0), ("create_order", "declared", 1)],
)
def test_guessed_writes_are_not_proposed(maker, support, count):
    schema = {"type": "object", "properties": {"item_id": {"type": "string"}}}
    link = Link(argument="item_id", tool=maker, path="item_id", support=support)
    tools = Toolbox(
        Tool(protocol, lambda _: None)
        for protocol in (
            ToolProtocol(name="get_item", input_schema=schema, links=(link,)),
            ToolProtocol(name=maker),
        )
    )
    assert len(find_proposable(tools, tools["get_item"], "item_id")) == count
