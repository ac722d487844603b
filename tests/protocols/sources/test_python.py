"""Python modules and functions as sources: annotations become schemas, docstrings descriptions."""

import sys
import textwrap

import pytest

from protocols.errors import SourceUnavailable, ToolError
from protocols.protocol import Annotations, PythonBinding
from protocols.render import stubs
from protocols.sources import load_source, load_tools
from protocols.sources.python import read_module
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.validate import find_violation, validator
from sandbox.arguments import contract

TRAVEL = '''
from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from json import dumps
from typing import TYPE_CHECKING, Literal, NotRequired, Optional, TypedDict

from pydantic import BaseModel

if TYPE_CHECKING:
    from nowhere import Absent

LIMIT = 3

class Cabin(Enum):
    ECONOMY = "economy"
    FIRST = "first"

class Leg(TypedDict):
    code: str
    minutes: NotRequired[int]

@dataclass
class Bag:
    kilos: float
    fragile: bool = False

class Tree(BaseModel):
    value: int
    child: Optional[Tree] = None

def search(
    query: str, *, limit: int = LIMIT, kind: Literal["a", "b"] = "a", day: datetime.date | None = None
) -> list[Leg]:
    """Flights that match
    some words.

    A second paragraph.

    Args:
        query: words, in any
            order
        limit (int): how many
        kind: a: or b

    Returns:
        legs: and more

    read_only = True
    """
    assert day is None or type(day) is datetime.date
    return [{"code": query, "minutes": limit}]

def pack(bag: Bag, cabin: Cabin, tree: Tree, legs: Sequence[Leg], *more: int, **options: str) -> Bag:
    """Pack a bag.

    :param bag: what to pack,
        and how
    :param Cabin cabin: where it goes
    """
    assert isinstance(bag, Bag) and isinstance(cabin, Cabin) and isinstance(tree, Tree)
    return Bag(bag.kilos + len(legs), cabin is Cabin.FIRST)

def count(a, b: Absent = None, c: "Absent" = dumps, d: set[int] = frozenset()):
    """Count."""
    return [a, d]

async def later(seconds: float = 0.5) -> float | None:
    return seconds

@cache
def nothing() -> None:
    pass

nothing.destructive = True

def _hidden():
    pass
'''


@pytest.fixture(scope="module")
def travel(tmp_path_factory):
    file = tmp_path_factory.mktemp("python") / "travel.py"
    file.write_text(TRAVEL)
    protocols, functions = read_module(str(file))
    return {protocol.name: protocol for protocol in protocols}, {
        k.partition(":")[2]: f for k, f in functions.items()
    }


def test_public_functions_defined_there_are_tools(travel):
    protocols, functions = travel
    assert list(protocols) == list(functions) == ["search", "pack", "count", "later", "nothing"]
    assert protocols["search"].binding == PythonBinding(module="travel", function="search")
    assert protocols["search"].collection == "travel"


def test_annotations_defaults_and_descriptions(travel):
    search = travel[0]["search"]
    assert (
        search.description
        == "Flights that match some words. A second paragraph. Returns: legs: and more"
    )
    assert search.parameters == {
        "query": {"type": "string", "description": "words, in any order"},
        "limit": {"type": "integer", "default": 3, "description": "how many"},
        "kind": {"enum": ["a", "b"], "type": "string", "default": "a", "description": "a: or b"},
        "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
    }
    assert search.required == {"query"}


def test_results_have_schemas(travel):
    protocols = travel[0]
    assert not find_violation(
        protocols["search"].output_schema, [{"code": "x"}, {"code": "x", "minutes": 1}]
    )
    assert find_violation(protocols["search"].output_schema, [{"minutes": 1}])
    assert protocols["nothing"].output_schema == {"type": "null"}
    assert protocols["later"].output_schema == {"anyOf": [{"type": "number"}, {"type": "null"}]}
    assert protocols["count"].output_schema is None


def test_every_schema_is_self_contained(travel):
    for protocol in travel[0].values():
        validator(protocol.input_schema)
        validator(protocol.output_schema or {})
    pack = travel[0]["pack"]
    good = {
        "bag": {"kilos": 1},
        "cabin": "first",
        "tree": {"value": 1, "child": {"value": 2}},
        "legs": [],
    }
    assert not find_violation(pack.input_schema, good)
    assert find_violation(pack.input_schema, {**good, "tree": {"value": 1, "child": {}}})
    assert find_violation(pack.input_schema, {**good, "legs": [{"minutes": 1}]})
    assert list(pack.parameters) == ["bag", "cabin", "tree", "legs"]
    assert pack.parameters["bag"]["description"] == "what to pack, and how"
    assert pack.parameters["cabin"]["description"] == "where it goes"


def test_json_becomes_what_the_annotations_ask_for(travel):
    functions = travel[1]
    assert functions["search"](query="q", day="2013-01-02") == [{"code": "q", "minutes": 3}]
    bag = functions["pack"]({"kilos": 1}, cabin="first", tree={"value": 1}, legs=[{"code": "x"}])
    assert (bag.kilos, bag.fragile) == (2.0, True)
    assert functions["count"](a=1, d=[1, 1]) == [1, {1}]


def test_what_an_annotation_refuses_runs_nothing(travel):
    with pytest.raises(
        ToolError, match="search: argument 'day': Input should be a valid date"
    ) as caught:
        travel[1]["search"](query="q", day="tomorrow")
    assert caught.value.outcome == "not_run"


def test_annotations_that_mean_nothing_here_say_nothing(travel):
    assert travel[0]["count"].parameters == {
        "a": {},
        "b": {"default": None},
        "c": {},
        "d": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "default": []},
    }


def test_only_what_says_so_reads(travel):
    protocols = travel[0]
    assert protocols["search"].annotations == Annotations(read_only=True)
    assert protocols["nothing"].annotations == Annotations(read_only=False, destructive=True)
    assert protocols["count"].writes


def module(tmp_path, source, name="tools.py"):
    file = tmp_path / name
    file.write_text(textwrap.dedent(source))
    return str(file)


def test_names_and_attributes_decide(tmp_path):
    path = module(
        tmp_path,
        """
        from os.path import join
        __all__ = ["join", "get_x"]
        def get_x(): "Read only the first."
        def other(): pass
        get_x.idempotent = True
        """,
    )
    protocols, _ = read_module(path)
    assert [(p.name, p.writes, p.annotations.idempotent) for p in protocols] == [
        ("join", True, None),
        ("get_x", True, True),
    ]


def test_a_module_by_its_dotted_name(tmp_path, monkeypatch):
    (tmp_path / "parcels").mkdir()
    (tmp_path / "parcels" / "__init__.py").write_text("")
    module(tmp_path / "parcels", "def send(to: str): pass", "post.py")
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    protocols, functions = read_module("parcels.post")
    assert protocols[0].binding == PythonBinding(module="parcels.post", function="send")
    assert list(functions) == ["parcels.post:send"]
    assert sys.path == before


def test_a_module_that_fails_says_why(tmp_path):
    for source, cause in (
        ("def f(:", "SyntaxError: "),
        ("import no_such_package", "ModuleNotFoundError: No module"),
    ):
        path = module(tmp_path, source)
        with pytest.raises(SourceUnavailable) as caught:
            read_module(path)
        assert str(caught.value).startswith(f"the module {path!r} cannot be imported: {cause}")
    for name, message in (
        ("none.py", "there is no file .*none.py.*; check the path"),
        ("json.none", "No module named 'json"),
    ):
        with pytest.raises(SourceUnavailable, match=message):
            read_module(name)


PLOT = '''
def plot(value=None, size: int = 3, day=None, **more):
    """Plot a value.

    Parameters
    ----------
    value : {'visits', 'users'}, optional
    size : int
        In pixels.
    hue : str
        A colour.
    more : dict
        Passed on.

    Returns
    -------
    file_path : str
        Where the plot is.
    """
    return 5
'''


def test_documented_types_bind_no_call(tmp_path):
    (tmp_path / "plots.py").write_text(PLOT)
    [protocol], functions = read_module(str(tmp_path / "plots.py"))
    assert protocol.parameters["value"] == {
        "x-atc-guessed-type": {"enum": ["visits", "users"]},
        "default": None,
    }
    assert protocol.parameters["size"]["type"] == "integer"
    assert (protocol.output_schema, protocol.evidence.level) == ({"type": "string"}, "guessed")
    assert protocol.description == (
        "Plot a value. Returns: file_path : str Where the plot is. hue: A colour."
    )
    stub = stubs(Toolbox([Tool(protocol, functions["plots:plot"])]))
    assert "(*, value: Literal['visits', 'users'] = None, size: int = 3" in stub
    assert "-> str:" in stub
    assert contract(protocol).accept({"value": "other"}) == {"value": "other"}
    assert contract(protocol).drift(5) == ()


BANK = '''
    class Account:
        def __init__(self, cents: int = 100):
            self._cents = cents

        def balance(self) -> int:
            """What there is.

            read_only = True
            """
            return self._cents

        def pay(self, cents: int, to: str = "bob") -> dict[str, int]:
            """Pay somebody.

            Args:
                cents (int): how much
                to (str): [Optional] whom
            """
            self._cents -= cents
            return {"left": self._cents}

    mine = Account()
    balance, pay, other = mine.balance, mine.pay, mine.pay
    __all__ = ["balance", "pay"]
'''


@pytest.fixture
def bank(tmp_path):
    return module(tmp_path, BANK, "bank.py")


def test_listed_methods_are_tools(bank):
    loaded = load_source(bank)
    box = loaded.tools
    assert (loaded.name, loaded.kind, list(box)) == ("bank", "python", ["balance", "pay"])
    pay = box["pay"].protocol
    assert pay.binding == PythonBinding(module="bank", function="pay")
    assert pay.parameters["cents"] == {"type": "integer", "description": "how much"}
    assert (pay.required, pay.description) == ({"cents"}, "Pay somebody.")
    assert box["balance"].protocol.annotations == Annotations(read_only=True)
    assert pay.writes
    assert box["pay"].call({"cents": 30}) == {"left": 70}
    assert box["balance"].call({}) == 70, "all calls share the object"


def test_what_cannot_be_a_source_says_why(tmp_path):
    path = module(tmp_path, "class Account: pass")
    for source, why in (
        (path, "has no public functions; a tool is one"),
        (f"{path}:Account", "cannot be imported: M"),
    ):
        with pytest.raises(SourceUnavailable) as caught:
            load_tools(source)
        assert f"{source!r} {why}" in str(caught.value)


def total(prices: list[float], tax: float = 0.2) -> float:
    """The sum of prices with tax.

    Args:
        prices: what each thing costs

    read_only = True
    """
    return sum(prices) * (1 + tax)


def greet(name: str) -> str:
    """A greeting."""
    return f"Hello {name}"


def test_functions_may_be_listed_with_sources(bank):
    (tool,) = load_tools(total).values()
    assert (tool.alias, tool.protocol.writes, tool.protocol.required) == (
        "total",
        False,
        {"prices"},
    )
    assert tool.protocol.parameters["prices"]["description"] == "what each thing costs"
    assert tool.call({"prices": [1, 2], "tax": 0}) == 3
    box = load_tools([total, greet, bank])
    assert {"total", "greet", "balance"} <= set(box)
    assert box["greet"].call({"name": "Ada"}) == "Hello Ada"


@pytest.mark.parametrize("source", [lambda x: x, print, 5])
def test_what_is_no_plain_function_is_refused(source):
    with pytest.raises(SourceUnavailable, match=r"no plain function|no tool source"):
        load_tools(source)
