"""Workers over a small world of tools with a state: answers without a model, and an agent's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atc.core.config import Config
from atc.core.parallel import Threads
from atc.models.scripted import ScriptedModel
from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from sandbox.zygote import ZygoteSandbox
from tests.labs.tools import tool
from toolflow_bench.baselines import Baseline, baseline_worker
from toolflow_bench.metrics import Row
from toolflow_bench.rows import Header
from toolflow_bench.runner import Item, OpenWorker, run_suite
from toolflow_bench.task import GradedQuestion
from toolflow_bench.workers import agent_worker

FILMS = [
    {"film_id": f"f{n}x", "title": title, "year": 1990 + n}
    for n, title in enumerate(["Alien", "Heat", "Solaris"])
]
HEADER = Header(suite="shop", model="none", seed=0, data="", version="0", settings={})


class Shop:
    """Three tools over films; `listed` is its state."""

    def __init__(self) -> None:
        self.listed: list[Mapping[str, Any]] = []
        self.resets = 0
        after = {"type": "integer", "minimum": 1900, "maximum": 2100}
        self.toolbox = Toolbox(
            [
                tool("find_film", self.find, {"title": "string"}),
                tool(
                    "list_films", lambda _: {"films": FILMS}, {"after": after}, optional=["after"]
                ),
                tool("get_film", self.get, {"film_id": "string"}),
                tool(
                    "add_to_list", self.add, {"film_id": "string", "stars": "integer"}, reads=False
                ),
            ]
        )

    def find(self, arguments: Mapping[str, Any]) -> Any:
        found = [film for film in FILMS if film["title"].lower() == arguments["title"].lower()]
        if not found:
            raise ToolError(404, "no such film")
        return {"film_id": found[0]["film_id"], "title": found[0]["title"]}

    def get(self, arguments: Mapping[str, Any]) -> Any:
        found = [film for film in FILMS if film["film_id"] == arguments["film_id"]]
        if not found:
            raise ToolError(404, "no such film")
        return {"film": found[0], "stock": 7}

    def add(self, arguments: Mapping[str, Any]) -> Any:
        self.listed.append(dict(arguments))
        return {"added": len(self.listed), "list": "mine"}

    def reset(self, _draw: str) -> None:
        self.listed = []
        self.resets += 1

    def snapshot(self) -> dict[str, Any]:
        return {"shop": {"list": self.listed}} if self.listed else {}


READ = """film = find_film(title="Heat")
print(get_film(film_id=film["film_id"])["film"]["year"])
"""
WRITE = """film = find_film(title="Alien")
add_to_list(film_id=film["film_id"], stars=4)
print("done")
"""
ITEMS = [
    Item(
        question=GradedQuestion(
            id="year", question="When did 'Heat' come out?", answer=1991, type="number", calls=2
        ),
        gold=("find_film", "get_film"),
        candidates=("get_film", "find_film", "add_to_list"),
        split="short",
        services=("shop",),
        program=READ,
    ),
    Item(
        question=GradedQuestion(
            id="list",
            question="Put 'Alien' on my list with 4 stars.",
            answer={"shop": {"list": [{"film_id": "f0x", "stars": 4}]}},
            type="state",
            calls=2,
        ),
        gold=("find_film", "add_to_list"),
        candidates=("find_film", "add_to_list", "list_films"),
        split="short",
        services=("shop",),
        program=WRITE,
        writes=True,
    ),
]


@pytest.fixture
def shops() -> list[Shop]:
    """Every shop that was opened."""
    return []


@pytest.fixture
def open_shop(shops: list[Shop]):
    @contextmanager
    def opened() -> Iterator[Shop]:
        shops.append(Shop())
        yield shops[-1]

    return opened


def ask(open_worker: OpenWorker, out: Path, items: list[Item] = ITEMS, **more: Any) -> list[Row]:
    return run_suite(items, open_worker, header=HEADER, out=out / "rows.jsonl", **more)


def test_gold_programs_are_perfect(open_shop, sandbox, tmp_path: Path) -> None:
    rows = ask(baseline_worker("gold", open_shop, sandbox=sandbox), tmp_path, pool=Threads(2))
    assert all(row.correct for row in rows), [row.reason for row in rows]
    for row in rows:
        assert (row.path, row.precision, row.cp) == (1, 1, True)
    assert rows[0].programs == (READ,)
    assert rows[0].state is None
    assert rows[1].state == {"shop": {"list": [{"film_id": "f0x", "stars": 4}]}}
    assert rows[0].candidates == rows[0].tools == ITEMS[0].candidates
    assert (rows[0].model_calls, rows[0].input_tokens) == (0, 0)


@pytest.mark.parametrize("name", ["echo", "first", "random"])
def test_wrong_answers_are_wrong(name: Baseline, open_shop, sandbox, tmp_path: Path) -> None:
    rows = ask(baseline_worker(name, open_shop, sandbox=sandbox), tmp_path, repeats=5)
    assert [row.status for row in rows if not row.graded] == []
    assert not any(row.correct for row in rows), [
        (row.id, row.answer) for row in rows if row.correct
    ]
    tools = {call["tool"] for row in rows for call in row.made}
    match name:
        case "echo":
            assert tools == set()
            assert rows[0].answer == ITEMS[0].question.question
        case "first":
            assert tools == {"get_film", "find_film"}  # each item's first candidate
            assert all(len(row.made) == 1 for row in rows)
        case _:
            assert len(tools) == 4
            assert len({row.answer for row in rows}) > 2


class Model(ScriptedModel):
    """Writes the gold program of the question that it is asked, after a wrong one where told so."""

    def __init__(self, *first: str) -> None:
        super().__init__()
        self.first = list(first)
        self.seeds: list[int] = []

    def __call__(self, messages: Any, **options: Any) -> Any:
        self.seeds.append(options["seed"])
        asked = next(
            item
            for item in ITEMS
            if any(item.question.question in message.content for message in messages)
        )
        program = self.first.pop(0) if self.first else asked.program
        self._replies = (*self._replies, f"```python\n{program}```")
        return super().__call__(messages, **options)


def worker(model: Model, open_shop: Any, sandbox: ZygoteSandbox, **config: Any) -> OpenWorker:
    return agent_worker(
        open_shop, ask=model, sandbox=sandbox, config=Config(**{"strategy": "chain", **config})
    )


def test_an_agent_answers_in_worlds_that_begin_anew(
    open_shop, shops, sandbox, tmp_path: Path
) -> None:
    model = Model()
    rows = ask(worker(model, open_shop, sandbox), tmp_path, repeats=3)
    assert [(row.correct, row.cp, row.path, row.precision) for row in rows] == [
        (True, True, 1, 1)
    ] * 6
    assert model.seeds[0] == 0  # as `atc run` asks
    assert len(set(model.seeds)) == 3  # each repeat draws another sample
    (shop,) = shops
    assert shop.resets == 6
    assert rows[2].state is None  # what the task before had written was forgotten
    assert rows[0].tools == ITEMS[0].candidates
    assert sandbox.run  # still open: agents do not close what they share


def test_a_baseline_samples_as_a_run_does(open_shop, sandbox, tmp_path: Path) -> None:
    model = Model("", "")
    model.samples = 3
    rows = ask(worker(model, open_shop, sandbox, max_repairs=0), tmp_path)
    assert (rows[0].correct, len(model.seeds)) == (True, 2 + len(rows))


def test_services_that_are_gone_are_an_outage(open_shop, shops, sandbox, tmp_path: Path) -> None:
    @contextmanager
    def closed() -> Iterator[Shop]:
        with open_shop() as shop:
            shop.toolbox = shop.toolbox.map(lambda tool: replace(tool, call=refuse))
            yield shop

    def refuse(_: Any) -> Any:
        raise ToolError(
            None, "connection refused", outcome="not_run", curl="curl http://127.0.0.1:9"
        )

    rows = ask(worker(Model(), closed, sandbox, samples=1, max_repairs=0), tmp_path)
    assert [row.status for row in rows] == ["outage", "outage"]
    assert rows[0].error == "the service of 'find_film' was not reached: connection refused"
