"""AnyTool over a small box with three floors: travel (flights, trains), food (menus) and post (letters).

Every agent, the solver and the judge play by their own scripts (`Cast`), so that a test reads who was asked in which
order. A tool agent searches one collection here: travel has a category agent, food and post have tool agents at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from atc.core.config import Config
from atc.strategies import anytool
from atc.strategies.anytool import Options
from protocols.errors import ToolError
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs import tools as tool_lab
from tests.labs.acting import Solver
from tests.labs.acting import turn as act
from tests.labs.search_agents import FINISH, Cast, Line, call, verdict

TASK = "How do I get to Oslo?"
SOLVER, JUDGE, CHECK, META = (
    "You solve a task",
    "Judge whether the answer",
    "Judge whether the request",
    "You guide",
)
TRAVEL, FLIGHTS, TRAINS, MENUS = (
    "category travel",
    "flights (travel)",
    "trains (travel)",
    "menus (food)",
)
LETTERS = "letters (post)"
LOOK = call("get_tools_in_category", category="travel")


def box(sent: list[tuple[str, Any]]) -> Toolbox:
    """`sent` gets every call that reaches a tool. `find_flight` is down."""

    def down(_: Any) -> Any:
        raise ToolError(500, "the server is down")

    def tool(name: str, where: str, answer: Any, *, reads: bool = True) -> Tool:
        category, _, collection = where.partition("/")
        about = {
            "description": f"{name} of a city.",
            "category": category,
            "collection": collection,
        }
        return tool_lab.tool(name, answer, {"city": "string"}, reads=reads, sent=sent, **about)

    return Toolbox(
        [
            tool("find_flight", "travel/flights", down),
            tool("find_train", "travel/trains", lambda a: {"train": f"IC 7 to {a['city']}"}),
            tool("book_seat", "travel/trains", lambda a: {"seat": 7}, reads=False),
            tool("find_dish", "food/menus", lambda _: {"dish": "soup"}),
            tool("send_letter", "post/letters", lambda a: {"sent": a["city"]}, reads=False),
        ]
    )


def give_up(reason: str, *functions: str) -> str:
    return act("give_up", reason=reason, functions=list(functions))


def added(*apis: str) -> str:
    return call("add_API_into_API_pool", apis=list(apis))


def cast(**scripts: Sequence[Line]) -> Cast:
    """The roles by name (`solver=[…]`); who has no script finishes, looks or agrees."""
    usual: dict[str, Sequence[Line]] = {
        SOLVER: [act("find_flight", city="Oslo"), give_up("no flights", "find_flight")],
        JUDGE: [verdict("Solved")],
        CHECK: [verdict("Solvable")],
        META: [call("create_agent_category_level", category="travel"), LOOK, LOOK, FINISH],
        TRAVEL: [call("create_agent_tool_level", tools=["flights"]), LOOK, FINISH],
        FLIGHTS: [added("find_flight"), FINISH],
        TRAINS: [added("find_train"), FINISH],
        MENUS: [added("find_dish"), FINISH],
        LETTERS: [added("send_letter"), FINISH],
    }
    return Cast(usual | {globals()[name.upper()]: lines for name, lines in scripts.items()})


def lab(model: Any, sandbox: Any, sent: list[tuple[str, Any]], **given: Any):
    """An agent that solves by AnyTool; `given` are settings of the configuration or options of AnyTool."""
    names = set(Options.__dataclass_fields__)
    options = {key: value for key, value in given.items() if key in names}
    settings = {key: value for key, value in given.items() if key not in names}
    config = Config(**{"strategy": "anytool", "decoding": "off", **settings})
    way = partial(anytool.solve, options=Options(**{"tools_per_agent": 1, **options}))
    return Solver(way, box(sent), model=model, sandbox=sandbox, config=config)
