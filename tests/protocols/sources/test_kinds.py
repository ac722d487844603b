"""Kinds of effects that the user gives a source, and factories of tools."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from protocols.errors import SourceUnavailable, ToolError, UnknownTool
from protocols.sources import load_tools
from protocols.sources.factories import is_factory
from protocols.toolbox import Toolbox
from tests.labs.user import service


def click(link: str) -> str:
    """Follow a link."""
    return link


def view() -> str:
    """Show the page."""
    return "page"


def add(a: int, b: int) -> int:
    """Add two numbers.

    pure = True
    """
    return a + b


def scroll() -> str:
    """Scroll down.

    session = True
    """
    return ""


def kinds(tools):
    return {name: (tool.effect, tool.protocol.writes) for name, tool in tools.items()}


@pytest.mark.parametrize(
    ("how", "found"),
    [
        ({}, {"click": (None, True), "view": (None, True)}),
        ({"reads": ["view"]}, {"click": (None, True), "view": (None, False)}),
        ({"session": True}, {"click": ("session", False), "view": ("session", False)}),
        (
            {"session": "click", "pure": lambda tool: tool.name == "view"},
            {"click": ("session", False), "view": ("pure", False)},
        ),
    ],
)
def test_a_source_gets_its_kinds(how, found):
    assert kinds(load_tools(click, view, **how)) == found
    assert kinds(load_tools(factory=lambda: [click, view], **how)) == found
    assert kinds(load_tools(factory=lambda: load_tools(click, view), **how)) == found


def test_marks_of_functions_are_known():
    tools = load_tools(add, scroll)
    assert kinds(tools) == {"add": ("pure", False), "scroll": ("session", False)}
    assert "True" not in "".join(tool.protocol.description for tool in tools.values())


def test_an_unknown_name_is_an_error():
    with pytest.raises(UnknownTool, match="did you mean click"):
        load_tools(click, session=["clik"])


def test_a_name_of_several_tools_is_an_error(tmp_path):
    (tmp_path / "other.py").write_text('def click() -> str:\n    "Click."\n    return ""\n')
    sources = [click, str(tmp_path / "other.py")]
    with pytest.raises(ValueError, match=r"2 tools are named 'click'; write other/click or func"):
        load_tools(sources, reads=["click"])
    tools = load_tools(sources, reads=["functions/click"])
    assert {tool.source for tool in tools.values() if not tool.protocol.writes} == {"functions"}


@pytest.mark.parametrize("kind", ["reads", "pure", "session"])
def test_a_fetched_write_is_declared_by_source(kind):
    with ExitStack() as stack:
        address = f"{service(stack, ('wipe', 'post', '/wipe')).url}/doc"
        for which in (True, "wipe"):
            with pytest.raises(ValueError, match=r"'shop/wipe' would count .* says POST"):
                load_tools(click, address, **{kind: which})
            assert not load_tools(address, **{kind: which})["wipe"].protocol.writes
        tools = load_tools(click, address, **{kind: "shop/wipe"})
    assert (tools["wipe"].protocol.writes, tools["click"].protocol.writes) == (False, True)


def test_a_refusal_is_an_error():
    tools = load_tools(click, failed=lambda result: result == "[not found]")
    assert tools["click"].send({"link": "/a"}).value == "/a"
    with pytest.raises(ToolError, match="not found") as caught:
        tools["click"].send({"link": "[not found]"})
    assert caught.value.outcome == "refused"


def makes():
    return [click]


def annotated() -> "list[Callable[..., str]]":
    """Make a browser."""
    return [click]


def lists_books() -> list[dict[str, str]]:
    return []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (makes, True),
        (annotated, True),
        (lambda: [click], True),
        (view, False),
        (click, False),
        (lists_books, False),
    ],
)
def test_only_what_makes_tools_is_a_factory(source, found):
    assert is_factory(source) is found
    assert ("click" in load_tools(source)) is (found or source is click)


def test_a_function_in_a_list_is_a_tool():
    assert list(load_tools([makes])) == ["makes"]
    assert list(load_tools(makes, view)) == ["makes", "view"]


def test_a_factory_without_tools_is_explained():
    with pytest.raises(SourceUnavailable, match="returned no tools but int"):
        load_tools(factory=lambda: 5)
    with pytest.raises(SourceUnavailable, match="failed: ZeroDivisionError"):
        load_tools(factory=lambda: 1 / 0)


def test_each_world_has_the_same_tools():
    given = [[click, view], [click]]
    tools = load_tools(factory=lambda: given.pop(0))
    assert tools["click"].identity != load_tools(click)["click"].identity
    with pytest.raises(SourceUnavailable, match="made no 'functions/view' this time"):
        tools["click"].fresh()
    assert isinstance(tools, Toolbox)


def test_a_failing_check_keeps_the_result():
    tool = load_tools(view, failed=lambda result: result["key"])["view"]
    with pytest.warns(RuntimeWarning, match="'failed' of '.*view' raised TypeError"):
        assert tool.send({}).value == "page"


@pytest.mark.parametrize("how", [{"failed": 3}, {"pure": 5}, {"session": None}])
def test_kinds_of_a_wrong_type_are_refused(how):
    with pytest.raises(TypeError, match=next(iter(how))):
        load_tools(view, **how)
