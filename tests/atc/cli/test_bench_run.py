"""`atc bench run toolflow`, driven as a person drives it, over a small world in place of the services."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import atc.cli.bench_run
from protocols.toolbox import Toolbox
from tests.labs.tools import tool
from toolflow_bench.rows import read_rows
from toolflow_bench.suites import draw_tasks, services_of
from toolflow_bench.task import InvalidTask, Task

NUMBERS = tuple(f"number_{number}" for number in range(20))


pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


@pytest.fixture
def run(atc_):
    return partial(atc_, "bench", "run", "toolflow")


class Counting:
    """Twenty tools, each of which gives a number."""

    def __init__(self) -> None:
        self.toolbox = Toolbox(
            tool(name, {"value": 1000 + 7 * value}) for value, name in enumerate(NUMBERS)
        )

    def reset(self, _draw: str = "") -> None:
        pass

    def snapshot(self) -> dict[str, Any]:
        return {}


def task(number: int, *services: str, split: str = "short") -> dict[str, Any]:
    return {
        "id": f"t{number}",
        "question": f"What is the number of item {number}?",
        "answer": 1000 + 7 * number,
        "type": "number",
        "calls": 1,
        "split": split,
        "services": services or ("flights",),
        "candidates": NUMBERS,
        "program": f'print(number_{number}()["value"])\n',
        "query": "SELECT 1",
        "operations": [f"number_{number}"],
        "pattern": "one",
        "depth": 1,
    }


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "tasks"
    folder.mkdir()
    tasks = [task(1), task(2, "movies"), task(3, "flights", "movies"), task(4, split="long")]
    (folder / "some.jsonl").write_text("\n".join(map(json.dumps, tasks)))

    @contextmanager
    def open_world() -> Iterator[Counting]:
        yield Counting()

    monkeypatch.setattr(atc.cli.bench_run, "_worlds", lambda *_: open_world)
    return str(folder)


def test_gold_programs_score_a_hundred(run, data: str) -> None:
    code, out, err = run("--data", data, "--strategy", "gold", "--out", "rows.jsonl")
    assert code == 0, err
    head, line = (row.split() for row in out.splitlines())
    assert head[:7] == ["strategy", "n", "solved", "95%", "Path", "Precision", "CP"]
    assert line[:7] == ["gold", "4", "100%", "100%–100%", "100%", "100%", "100%"]
    assert line[-1] == "0.0000"
    assert "atc bench report rows.jsonl" in err
    assert "4/4  right" in err
    header, rows = read_rows(Path("rows.jsonl"))
    assert (header.suite, header.model, header.settings["strategy"]) == ("toolflow", "none", "gold")
    assert (header.settings["split"], header.settings["sample"], header.settings["price"]) == (
        "all",
        None,
        [0.0, 0.0],
    )
    assert rows[0].programs == ('print(number_1()["value"])\n',)


def test_a_model_writes_the_programs(run, data: str, monkeypatch) -> None:
    replies = [f'```python\nprint(number_{number}()["value"])\n```' for number in (1, 9)]
    Path("replies.json").write_text(json.dumps(replies))
    command = f"--data {data} --split short --limit 2 --model scripted:replies.json --strategy chain".split()
    code, out, err = run(*command, "--out", "rows.jsonl")
    assert code == 0, err
    assert out.splitlines()[1].split()[:3] == ["chain", "2", "50%"]
    assert out.splitlines()[1].split()[-1] == "–"  # no price is known
    rows = read_rows(Path("rows.jsonl"))[1]
    assert [(row.id, row.correct, row.path, row.precision) for row in rows] == [
        ("t1", True, 1, 1),
        ("t2", False, 0, 0),
    ]
    assert rows[0].run is not None  # `atc runs show` has it too
    monkeypatch.setenv("ATC_MODEL_PRICE", "1000,0")
    code, out, err = run(*command, "--out", "rows.jsonl")
    assert (code, out) == (2, "")
    assert "price was None, is [1000.0, 0.0]" in err
    summary = json.loads(run(*command, "--out", "priced.jsonl", "--json")[1])
    assert summary["cost"] == pytest.approx(summary["input_tokens"] / 1000)


def test_several_strategies_make_one_table(run, data: str) -> None:
    replies = {
        "chain": '```python\nprint(number_1()["value"])\n```',
        "react": 'Thought: It is known.\nAction: finish\nAction Input: {"answer": "1007"}',
    }
    Path("replies.json").write_text(json.dumps(list(replies.values())))
    command = (
        f"--data {data} --split short --limit 1 --model scripted:replies.json --out r.jsonl".split()
    )
    command += ["--strategy", "chain", "--strategy", "react:decoding=off", "--strategy", "echo"]
    code, out, err = run(*command)
    assert code == 0, err
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["strategy", "n", "solved"],
        ["chain", "1", "100%"],
        ["react:decoding=off", "1", "100%"],
        ["echo", "1", "0%"],
    ]
    assert "1/1  wrong" in err
    assert (
        "All figures on a page: atc bench report r-chain.jsonl r-react-decoding-off.jsonl r-echo.jsonl"
        in err
    )
    header, [row] = read_rows(Path("r-react-decoding-off.jsonl"))
    assert (header.settings["strategy"], row.correct) == ("react:decoding=off", True)
    code, out, err = run(*command, "--json")  # nothing is asked again
    assert code == 0, err
    shown = json.loads(out)
    assert [one["strategy"] for one in shown["strategies"]] == [
        "chain",
        "react:decoding=off",
        "echo",
    ]
    assert [one["solved"] for one in shown["strategies"]] == [1, 1, 0]


def test_what_fails_on_our_side_is_asked_again(run, data: str) -> None:
    Path("replies.json").write_text("[]")
    command = ("--data", data, "--services", "movies", "--strategy", "chain", "--out", "rows.jsonl")
    code, out, err = run(*command, "--model", "scripted:replies.json")
    assert code == 3
    assert out.splitlines()[1].split()[:3] == ["chain", "0", "–"]
    assert "Not graded: 1 outage, 0 crashed; the same command asks these again." in err
    assert (
        len([line for line in err.splitlines() if "1/1  outage" in line]) == 1
    )  # not before it is given again
    Path("replies.json").write_text(json.dumps(['```python\nprint(number_2()["value"])\n```']))
    code, out, err = run(*command, "--model", "scripted:replies.json")
    assert code == 0, err
    assert out.splitlines()[1].split()[:3] == ["chain", "1", "100%"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--split", "lnog"), "there is no task in the split 'lnog'; ask for long, short or all."),
        (("--services", "flights,movie"), "no service named 'movie'; did you mean 'movies'?"),
        (
            ("--services", "baseball"),
            "there is no task in the split 'all' with services baseball alone",
        ),
        (
            ("--strategy", "reakt"),
            "--strategy: no strategy is named 'reakt'; did you mean 'react'?",
        ),
        (("--sample", "0"), "Invalid value for '--sample'"),
        (
            ("--out", "old.jsonl"),
            "'old.jsonl' was written by another version of atc, in format 1; this one reads 2;",
        ),
    ],
)
def test_a_mistake_is_one_sentence(run, data: str, arguments: tuple[str, ...], said: str) -> None:
    Path("old.jsonl").write_text('{"format": 1, "header": {}}\n')
    code, out, err = run("--data", data, "--strategy", "echo", *arguments)
    assert code in (2, 3)
    assert out == ""
    assert said in err
    assert err.splitlines()[-1].startswith("atc: ")


def drawn_from(
    counts: dict[str, int], count: int, seed: int
) -> tuple[list[Task], tuple[Task, ...]]:
    tasks = [
        Task(**{**task(0, service), "id": f"{service}-{number}", "services": (service,)})
        for service, size in counts.items()
        for number in range(size)
    ]
    return tasks, draw_tasks(tasks, count, seed=seed)


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["flights", "movies", "places", "baseball"]), st.integers(1, 30), min_size=1
    ),
    st.integers(1, 60),
    st.integers(0, 9),
)
def test_a_sample_has_of_each_service_its_share(
    counts: dict[str, int], count: int, seed: int
) -> None:
    tasks, drawn = drawn_from(counts, count, seed)
    assert len(drawn) == min(count, len(tasks))
    assert [one for one in tasks if one in drawn] == list(drawn)
    for service, number in Counter(one.services[0] for one in drawn).items():
        assert abs(number - len(drawn) * counts[service] / len(tasks)) < 1
    assert drawn_from(counts, count, seed)[1] == drawn


def test_a_world_has_the_services_of_its_tasks() -> None:
    tasks = [Task(**{**task(0), "services": ("flights",), "candidates": ("list_airlines",)})]
    assert services_of(tasks) == ("flights",)
    wrong = [Task(**{**task(5), "candidates": ("list_airlines", "list_airline")})]
    with pytest.raises(
        InvalidTask,
        match=r"'t5' names the tool 'list_airline', which no service has; did .* 'list_airlines'",
    ):
        services_of(wrong)
