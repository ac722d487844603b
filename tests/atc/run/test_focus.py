"""Which tools later prompts show in full."""

from atc.agent import Agent
from atc.core.config import Config
from atc.models.scripted import ScriptedModel
from atc.run.focus import rank_by_words, select_full
from protocols.protocol import Link
from protocols.toolbox import Toolbox
from tests.labs.tools import tool

LINK = Link(argument="ship_id", tool="find_ship", path="id", support="guessed")
OTHERS = [tool(f"list_{n}", None, {"a": "string"}, description="Lists.") for n in range(30)]
SHIPS = [
    tool("find_ship", {"id": "s1"}, {"name": "string"}, description="Find a ship."),
    tool("get_berth", {"berth": 7}, {"ship_id": "string"}, description="Berth.", links=(LINK,)),
]
TOOLS = Toolbox([*OTHERS, *SHIPS])


def test_named_tools_and_their_producers_are_full():
    full = select_full(TOOLS, ["list_3"], ["print(get_berth(ship_id='s1'))"])
    assert list(full) == ["list_3", "find_ship", "get_berth"]
    assert select_full(TOOLS, list(TOOLS)[:28], []) is TOOLS


def test_shared_rare_words_rank_first():
    assert rank_by_words("Where is the ship Elbe? It lists.", TOOLS)[:2] == ["find_ship", "list_0"]


def test_later_pieces_see_the_other_tools_by_name(sandbox, tmp_path):
    model = ScriptedModel(
        "```python\nship = find_ship(name='Elbe')\nprint(ship)\n```",
        "```python\nprint('ANSWER:', get_berth(ship_id=ship['id'])['berth'])\n```",
    )
    config = Config(strategy="stepwise", samples=1, cache_dir=tmp_path)
    solution = Agent(TOOLS, model=model, sandbox=sandbox, config=config).run("Where is ship Elbe?")
    assert solution.answer == "7"
    first, second = (
        next(m.content for m in p[3:] if "Task: Where" in m.content) for p in model.prompts
    )
    assert "def list_29(" in first
    assert "def list_29(" not in second
    assert "def find_ship(" in second
    assert "# list_28(a: str)\n# list_29(a: str)" in second
    assert len(second) < 0.8 * len(first)


def test_repairs_see_the_other_tools_by_name(sandbox, tmp_path):
    model = ScriptedModel(
        "```python\nprint(get_berth(ship_id=find_ship(name='Elbe')['key'])['berth'])\n```",
        "line 1: print(get_berth(ship_id=find_ship(name='Elbe')['id'])['berth'])",
    )
    config = Config(strategy="chain", samples=1, cache_dir=tmp_path)
    solution = Agent(TOOLS, model=model, sandbox=sandbox, config=config).run("Where is ship Elbe?")
    assert solution.answer == "7"
    assert "def list_29(" in model.prompts[0][3].content
    assert "def list_29(" not in model.prompts[1][3].content
    assert "# list_28(a: str)\n# list_29(a: str)" in model.prompts[1][3].content
