"""RestBench's mock: ids and names agree between calls, and gold paths run on the real specifications."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.restbench.__main__ import main
from benchmarks.restbench.data import RestWorld, items, load_restbench, replay_gold_path
from benchmarks.shared_data import folder
from protocols.errors import ToolError
from tests.labs import paths

DATA = folder("restbench")
BOOKSHOP = json.loads((paths.DATA / "bookshop.json").read_text())
TASK = {
    "id": "t-0",
    "query": "Who wrote Dune?",
    "gold_path": ["GET /search/books", "GET /books/{book_id}/writers"],
}


@pytest.fixture(scope="module")
def world() -> Iterator[RestWorld]:
    with RestWorld(load_restbench(DATA)) as opened:
        yield opened


@pytest.fixture
def shop(tmp_path: Path) -> RestWorld:
    (tmp_path / "shop_oas.json").write_text(json.dumps(BOOKSHOP))
    (tmp_path / "shop_tasks.json").write_text(json.dumps([TASK]))
    return RestWorld(load_restbench(tmp_path, ("shop",)))


def call(world: RestWorld, operation: str, **arguments: Any) -> Any:
    """The answer of an operation (`GET /books/{book_id}`)."""
    (mock,) = [mock for mock in world.mocks.values() if operation in mock.operations]
    return mock.answer(mock.operations[operation], arguments)


def test_operations_agree_on_the_names_found(
    shop: RestWorld,
) -> None:
    found = call(shop, "GET /search/books", query="The Long Way")["results"]
    assert found[0]["title"] == "The Long Way"
    book = call(shop, "GET /books/{book_id}", book_id=found[0]["id"])
    assert (book["id"], book["title"]) == (found[0]["id"], "The Long Way")
    assert {key: book[key] for key in found[0].keys() & book.keys()} == {
        key: found[0][key] for key in found[0].keys() & book.keys()
    }
    again = call(shop, "GET /search/books", query="the long way")["results"]
    assert [entry["id"] for entry in again] == [entry["id"] for entry in found]


def test_what_does_not_exist_is_refused(shop: RestWorld) -> None:
    with pytest.raises(ToolError, match="404: there is no book with the id '42'"):
        call(shop, "GET /books/{book_id}", book_id=42)
    writer = call(shop, "GET /search/writers", query="Ann")["results"][0]["id"]
    with pytest.raises(ToolError, match="there is no book"):
        call(shop, "GET /books/{book_id}", book_id=writer)
    with pytest.raises(ToolError, match="400: the argument 'query' is missing"):
        call(shop, "GET /search/books")


@pytest.mark.data("restbench")
def test_a_third_of_the_gold_paths_run(
    world: RestWorld,
) -> None:
    bench = load_restbench(DATA)
    failed = set()
    for item in items(bench, world.toolbox, seed=0)[::3]:
        assert len(item.candidates) == 20
        assert set(item.gold) <= set(item.candidates)
        world.reset()
        if replay_gold_path(world, item).status != "solved":
            failed.add(item.question.id)
    assert failed == {"tmdb-30", "tmdb-87", "tmdb-93"}


@pytest.mark.data("restbench")
def test_the_command_reports_by_api(tmp_path: Path) -> None:
    command = [
        "--data",
        str(DATA),
        "--strategy",
        "gold",
        "--limit",
        "3",
        "--out",
        str(tmp_path / "r.jsonl"),
        "--json",
    ]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout[done.stdout.index("{") :])
    apis = report["strategies"]["gold"]
    assert (apis["all"]["answered"], apis["tmdb"]["cp"]["mean"]) == (3, 1.0)
