"""Python functions, of which nobody said that any only reads: names are believed when other calls bear them out."""

from __future__ import annotations

import pytest

from probing.gate.caller import Caller, NotCalled
from probing.log import Log
from probing.session import Session
from probing.settings import ProbeSettings
from probing.writes import Writes
from protocols.invoke import Invoker
from protocols.sources import load_tools

MODULE = '''
ITEMS = {"p-101": "tea", "p-202": "milk"}
CART = {"l-old": "p-202"}
LOG = []
COUNT = [0]


def list_items():
    """All items."""
    return {"items": [{"item_id": key, "title": value} for key, value in ITEMS.items()]}


def get_item(item_id: str):
    if item_id not in ITEMS:
        raise KeyError(f"no item {item_id!r}")
    return {"item_id": item_id, "title": ITEMS[item_id]}


def get_cart():
    return {"lines": [{"line_id": key, "item_id": value} for key, value in CART.items()]}


def get_cart_and_note():
    LOG.append("seen")
    return {"lines": len(CART), "notes": len(LOG)}


def list_cart_notes():
    return {"notes": [{"number": number, "text": text} for number, text in enumerate(LOG)]}


def add_line(item_id: str):
    if item_id not in ITEMS:
        raise KeyError(f"no item {item_id!r}")
    COUNT[0] += 1
    CART[f"l-{COUNT[0]:03d}"] = item_id
    return {"line_id": f"l-{COUNT[0]:03d}", "item_id": item_id}


def remove_line(line_id: str):
    return {"line_id": line_id, "item_id": CART.pop(line_id)}


def clear_cart():
    CART.clear()
    return {"cleared": True}
'''


@pytest.fixture(scope="module")
def effects(tmp_path_factory):
    folder = tmp_path_factory.mktemp("python")
    (folder / "corner_shop.py").write_text(MODULE)
    settings = ProbeSettings(allow_writes=True)
    with Invoker() as invoker, Log(folder / "out") as log:
        toolbox = load_tools(str(folder / "corner_shop.py"), invoker=invoker)
        session = Session(toolbox, log, Caller(toolbox, log, settings), settings)
        writes = Writes(session)
        for number in range(1, 4):
            for tool in writes.makers():
                writes.make(tool, round=number)
        stopped = {}
        for tool in writes.removers():
            try:
                writes.remove(tool, round=4)
            except NotCalled as refusal:
                stopped[tool] = str(refusal)
        cart = session.caller.call("get_cart", {}, purpose="check", again=True).response
        session.take_from(0)
        yield writes.effects(), stopped, cart


@pytest.mark.parametrize("tool", ["list_items", "get_item", "get_cart"])
def test_what_reads_is_found_to_read(effects, tool):
    assert effects[0][tool].annotations.read_only is True, effects[0][tool].why


@pytest.mark.parametrize("tool", ["get_cart_and_note", "add_line", "remove_line", "clear_cart"])
def test_what_writes_is_never_taken_for_a_read(effects, tool):
    assert effects[0][tool].annotations.read_only is not True, effects[0][tool].why


def test_only_what_was_added_is_removed(effects):
    _, stopped, cart = effects
    assert [line["line_id"] for line in cart["lines"]] == ["l-old"]
    assert set(stopped) == {"clear_cart"}


def test_removing_is_destructive_and_adding_is_not(effects):
    found = {name: one.annotations.destructive for name, one in effects[0].items()}
    assert (found["add_line"], found["remove_line"], found["clear_cart"]) == (False, True, True)
