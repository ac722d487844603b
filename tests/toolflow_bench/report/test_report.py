"""`atc bench report`: what the page says, that nothing in a run can act on it, and what a browser makes of it."""

from __future__ import annotations

import json
import re
import socket
from base64 import b64encode
from collections.abc import Callable
from dataclasses import asdict
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from atc.cli.main import cli
from protocols.errors import AtcError
from tests.labs.browser import HOSTILE, Browser, needs_chromium
from toolflow_bench.metrics import Row
from toolflow_bench.report.page import compared, render
from toolflow_bench.report.plots import Scale
from toolflow_bench.report.runs import load_runs
from toolflow_bench.rows import FORMAT, Header

PROGRAM = "films = search_films(title='Alien')\nprint(films[0]['year'])\n"
CALL = {
    "attempt": 0,
    "tool": "search_films",
    "arguments": {"title": "Alien"},
    "line": 1,
    "outcome": "done",
    "status": None,
    "error": None,
    "seconds": 0.004,
    "reused": False,
}
FAULT = {
    "attempt": 0,
    "kind": "misread_result",
    "message": "'year' is no key",
    "tool": "search_films",
    "line": 2,
}

Save = Callable[..., Path]


def row(number: int, **changes: Any) -> Row:
    about: dict[str, Any] = {
        "id": f"movies-{number:03d}",
        "question": f"In which year was film {number} made?",
        "expected": "1979",
        "needs": 1 + number % 8,
        "answer": "1979",
        "correct": True,
        "reason": "an accepted spelling",
        "status": "solved",
        "calls": 1,
        "input_tokens": 900,
        "output_tokens": 100,
        "model_calls": 1,
        "seconds": 2.0,
        "model_seconds": 1.5,
        "services": ("movies",),
        "split": "short",
        "gold": ("search_films", "search_films", "get_film"),
        "programs": (PROGRAM,),
        "made": (CALL,),
        "path": 0.5,
        "precision": 1.0,
        "cp": False,
        "cost": 0.01,
    }
    return Row(**about | changes)


def wrong(number: int, **changes: Any) -> Row:
    about = {
        "correct": False,
        "answer": "1986",
        "reason": "'1979' is expected",
        "failure": "wrong_answer",
    }
    return row(number, **about | changes)


def outage(number: int) -> Row:
    return row(
        number,
        correct=False,
        status="outage",
        answer=None,
        error="the model is down",
        programs=(),
        made=(),
    )


@pytest.fixture
def save(tmp_path: Path) -> Save:
    def write(
        name: str, rows: list[Row], *, model: str = "qwen", format_: int = FORMAT, **settings: Any
    ) -> Path:
        header = Header(
            suite="toolflow",
            model=model,
            seed=7,
            data="9f2c1ab4",
            version="0.1.0",
            settings={"strategy": "chain", "split": "short"} | settings,
        )
        lines = [
            {"format": format_, "header": asdict(header)},
            *({"row": asdict(one)} for one in rows),
        ]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


def page_of(*paths: Path) -> str:
    runs = load_runs(paths)
    return render(runs, compared(runs))


class Page(HTMLParser):
    """The elements of a page, and the text of each table cell and section."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]


# What the page says


def test_a_report_shows_runs_and_results(save: Save) -> None:
    first = save("first", [row(1), wrong(2), wrong(3), outage(4)], max_repairs=3)
    second = save("second", [row(1), row(2), row(3), wrong(4)], strategy="react")
    text = Page(page_of(first, second)).text
    assert "ToolFlow: 2 runs" in text
    assert "Over 4 tasks, B · qwen react has the highest success: 3 of 4 answers, 75.0%" in text
    for fact in ("toolflow", "short", "9f2c1ab4", "0.1.0", "first.jsonl", "second.jsonl"):
        assert fact in text
    assert "Not graded, because our side failed: A 1." in text
    assert "33.3%" in text  # one of the three that were graded in the first run
    assert "B 2, A 0" in text  # solved by one of the two alone, of the three shared
    assert "+66.7" in text


def test_an_opened_task_shows_all_answers(save: Save) -> None:
    faulty = wrong(
        1,
        answer=None,
        failure="misread",
        limit="max_seconds = 180",
        programs=("print(1)\n", PROGRAM),
        made=(
            CALL,
            CALL
            | {"attempt": 1, "outcome": "refused", "status": 404, "error": "no film has this id"},
        ),
        faults=(FAULT,),
        findings=(
            {
                "attempt": 1,
                "code": "x",
                "message": "a wrong key",
                "line": 2,
                "tool": None,
                "mended": True,
            },
        ),
        run="20261122-abcd",
        repeated_writes=2,
        state={"movies": {"watchlists": ["wl_1"]}},
    )
    page = Page(page_of(save("run", [faulty])))
    for part in (
        "In which year was film 1 made?",
        "search_films ×2 → get_film",
        "max_seconds = 180",
        "Program of attempt 2",
        "Program of attempt 1",
        "films = search_films(title='Alien')",
        "misread_result",
        "'year' is no key",
        "Mended before it ran, line 2: a wrong key",
        "refused, 404",
        "no film has this id",
        "atc runs show 20261122-abcd",
        "2 repeated writes",
        "wl_1",
    ):
        assert part in page.text, part
    assert re.search(r'search_films\s*\(\s*title="Alien"\s*\)', page.text)


def test_repeats_of_a_task_stand_together(save: Save) -> None:
    rows = [row(1, repeat=0), wrong(1, repeat=1), row(1, repeat=2), row(2)]
    page = Page(page_of(save("run", rows)))
    assert [
        task["data-verdicts"] for task in page.named("details") if task.get("class") == "task"
    ] == [
        "A:mixed",
        "A:right",
    ]
    assert "2/3" in page.text
    assert "repeat 3" in page.text


def test_long_outputs_are_cut_with_a_note(save: Save) -> None:
    long, calls = "<" * 50_000, tuple([CALL | {"error": "<" * 200}] * 140)
    rows = [
        wrong(number, answer=long, programs=(long,), made=calls, question=long)
        for number in range(30)
    ]
    paths = [
        save(name, rows[:18] if name == "a" else rows[18:], strategy=name) for name in ("a", "b")
    ]
    page = page_of(*paths)
    assert len(page.encode()) < 8e6
    assert "more, in the file of rows</span>" in page
    assert "40 more calls, in the file of rows" in page


def test_more_than_twelve_runs_are_a_leaderboard(save: Save) -> None:
    """Numbered from the best on, with plots against tokens and depth, and without what compares task by task."""
    deep = {"depth": 7, "input_tokens": 9000}
    paths = [
        save(
            f"run-{n:02}",
            [row(i) if i < n else wrong(i, **deep) for i in range(15)],
            model=f"model-{n}",
        )
        for n in range(15)
    ]
    runs = load_runs(paths)
    assert [(run.letter, run.name) for run in runs] == [
        (str(n), f"model-{15 - n}") for n in range(1, 16)
    ]
    page = Page(render(runs, compared(runs)))
    assert "ToolFlow leaderboard: 15 runs" in page.text
    assert "Over 15 tasks, 1 · model-14 has the highest success: 14 of 15 answers" in page.text
    assert [one.get("class") for one in page.named("svg")].count("plot") == 3
    assert "1 · model-14: 93.3% (" in page.text  # against tokens
    assert "2 · model-13: 0.0% of 2 at 7–8" in page.text  # against depth
    assert {one.get("id") for one in page.named("section")} == {"figures", "plots", "groups"}


# That nothing in a run can act


def hostile_run(save: Save, port: int) -> Path:
    bad = HOSTILE.format(port=port)
    mine = {
        "id": bad,
        "question": bad,
        "expected": {bad: [bad]},
        "answer": bad,
        "reason": bad,
        "error": bad,
        "limit": bad,
        "run": bad,
        "split": bad,
        "services": (bad,),
        "gold": (bad, bad),
        "tools": (bad,),
        "programs": (bad, bad),
        "made": (
            dict.fromkeys(CALL, bad) | {"arguments": {bad: bad}},
            {"tool": bad, "arguments": bad},
            {},
        ),
        "faults": (dict.fromkeys(FAULT, bad), {}),
        "findings": ({"attempt": 0, "message": bad, "line": bad, "mended": bad},),
        "state": {bad: bad},
        "failure": bad,
    }
    rows = [wrong(1, **mine), wrong(2, **mine | {"id": "2", "status": "outage"}), row(3)]
    return save("run", rows, model=bad, **{bad: bad, "strategy": bad})


def test_nothing_in_a_run_becomes_markup(save: Save) -> None:
    plain = save("plain", [wrong(1), outage(2), row(3)], strategy="react")
    known = {
        name
        for name, _ in Page(
            page_of(plain, save("other", [wrong(1, faults=(FAULT,)), row(2)]))
        ).elements
    }
    source = page_of(hostile_run(save, 9), plain)
    page = Page(source)
    assert len(page.named("script")) == len(page.named("style")) == 1
    assert {name for name, _ in page.elements} <= known | {"em", "small"}
    attributes = [(key, value or "") for _, found in page.elements for key, value in found.items()]
    assert not [
        key
        for key, _ in attributes
        if key.startswith("on") or key in ("style", "src", "autofocus", "srcset")
    ]
    assert all(value.startswith("#") for key, value in attributes if key in ("href", "action"))
    for unseen in "\x00\x07\x1b\x9b\u202e\u2066\ufeff\u200b\ud800\r\u2028":
        assert unseen not in source, ascii(unseen)
    assert "\\u202edetrever" in page.text


def test_the_policy_allows_only_this_pages_code(save: Save) -> None:
    source = page_of(save("run", [row(1)]))
    policy = next(
        attributes["content"] or ""
        for attributes in Page(source).named("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert (
        directives.pop("default-src")
        == directives.pop("base-uri")
        == directives.pop("form-action")
        == "'none'"
    )
    for name in ("style", "script"):
        content = source.partition(f"<{name}>")[2].partition(f"</{name}>")[0]
        assert (
            directives.pop(f"{name}-src")
            == f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
        )
    assert not directives
    assert not re.search(r"(?:src|href)=\"(?!#)|@import|url\(", source)


# Figures and drawings


@given(
    st.lists(
        st.floats(0, 1e9).map(lambda value: value if value > 1e-9 else 0.0), min_size=1, max_size=12
    )
)
@example([980392157.0])
def test_a_scale_holds_every_value_in_order(values: list[float]) -> None:
    scale = Scale.for_values(values, 50, 550)
    places = [scale(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(50 - 1e-6 <= place <= 550 + 1e-6 for place in places)
    ticks = [scale(tick) for tick in scale.ticks()]
    assert len(ticks) >= 2
    assert ticks == sorted(ticks)
    assert all(50 - 1e-6 <= place <= 550 + 1e-6 for place in ticks)


# The command


def run_report(*arguments: str | Path) -> None:
    cli.main(["bench", "report", *map(str, arguments)], standalone_mode=False)


def test_the_command_replaces_its_own_page(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_report(save("run", [row(1)]))
    assert capsys.readouterr().out.startswith("report.html: 1 run, 1 row")
    run_report(save("run", [row(1), row(2)]), "-o", "report.html")
    assert "movies-002" in (tmp_path / "report.html").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "run.jsonl"]


def test_json_figures_write_no_page_unasked(
    save: Save, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = save("one", [row(1), wrong(2)]), save("other", [row(1), row(2)], strategy="react")
    run_report(one, other, "--json")
    said = json.loads(capsys.readouterr().out)
    assert said["report"] is None
    assert [run["figures"]["share"] for run in said["runs"]] == [0.5, 1.0]
    assert said["differences"][0]["differences"]["success"]["mean"] == 0.5
    assert not list(tmp_path.glob("*.html"))
    run_report(one, "--json", "-o", tmp_path / "page.html")
    assert json.loads(capsys.readouterr().out)["report"] == str(tmp_path / "page.html")
    assert (tmp_path / "page.html").exists()


def test_what_cannot_be_done_is_one_sentence(save: Save, tmp_path: Path) -> None:
    good = save("good", [row(1)])
    no_run, foreign = tmp_path / "notes.txt", tmp_path / "thesis.html"
    no_run.write_text("hello\n")
    foreign.write_text("<title>years of work</title>")
    for arguments, sentence in [
        (
            [tmp_path / "absent.jsonl"],
            "cannot read .*absent.jsonl.*: No such file or directory; give a file",
        ),
        ([no_run], "notes.txt' is not a benchmark's file: "),
        (
            [save("old", [], format_=1)],
            "was written by another version of atc, in format 1; this one reads 2; ",
        ),
        (
            [good, "-o", foreign],
            "thesis.html' is there and is no report of ours; give another -o, or remove it",
        ),
        ([good, good], "good.jsonl' is given twice; name each run once"),
    ]:
        with pytest.raises(AtcError, match=sentence):
            run_report(*arguments, *(() if "-o" in arguments else ("-o", tmp_path / "page.html")))
    assert foreign.read_text() == "<title>years of work</title>"
    assert not (tmp_path / "page.html").exists()


# In a browser


def shown(browser: Browser, path: Path, source: str, fragment: str) -> Page:
    """What the browser made of a page."""
    path.write_text(source)
    browser.open(f"file://{path}{fragment}")
    return Page(browser.run("document.documentElement.outerHTML"))


@needs_chromium
def test_a_hostile_run_is_inert_in_a_browser(save: Save, browser: Browser, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        hostile = hostile_run(save, listener.getsockname()[1])
        page = shown(
            browser, tmp_path / "page.html", page_of(hostile, save("plain", [row(1)])), "#task-2"
        )
        with pytest.raises(BlockingIOError):  # nobody called
            listener.accept()
    assert browser.run("document.title") == "ToolFlow: 2 runs"
    assert browser.console == []
    assert "4 tasks" in page.text  # the script has run, and opened the task of the address
    tasks = [
        attributes for attributes in page.named("details") if attributes.get("class") == "task"
    ]
    assert ["open" in task for task in tasks] == [False, True, False, False]


@needs_chromium
def test_tasks_are_filtered_by_the_address(save: Save, browser: Browser, tmp_path: Path) -> None:
    first = save("first", [row(1), row(2), wrong(3), outage(4)])
    second = save("second", [row(1), wrong(2, failure="limit"), row(3), wrong(4)], strategy="react")
    address = "#tasks&run=B&failure=limit&verdict=differ&search=MADE"
    page = shown(browser, tmp_path / "page.html", page_of(first, second), address)
    tasks = [
        attributes for attributes in page.named("details") if attributes.get("class") == "task"
    ]
    numbers = [
        int((task["id"] or "").removeprefix("task-")) for task in tasks if "hidden" not in task
    ]
    assert [f"movies-{number:03d}" for number in numbers] == ["movies-002"]
    assert "1 of 4 tasks" in page.text
    assert "hidden" not in page.named("form")[0]
    assert browser.console == []


def test_failures_are_counted_by_class(save: Save) -> None:
    rows = [
        row(1),
        wrong(2),
        wrong(3),
        wrong(4, failure="limit"),
        wrong(5, failure="not heard of"),
        outage(6),
    ]
    page = Page(page_of(save("run", rows)))
    said = [
        attributes["aria-label"] for attributes in page.named("a") if "aria-label" in attributes
    ]
    assert said == [
        f"A · qwen. {part}: show them"
        for part in (
            "Right: 1 answer",
            "Limit: 1 answer",
            "Wrong answer: 2 answers",
            "Other: 1 answer",
        )
    ]
    assert "+ 1 outage" in page.text
