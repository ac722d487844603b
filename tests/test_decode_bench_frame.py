"""The frame of the suites of decoding: files of rows, the order of asking, what is asked again, and the figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atc.cli.bench_decoding import decoding
from atc.models.scripted import ScriptedModel
from protocols.ask import Ask
from protocols.errors import ModelUnavailable
from toolflow_bench.decoding import suites
from toolflow_bench.decoding.figures import CallReport, figures, read_folder
from toolflow_bench.decoding.frame import BLOCK, MOST_OUTAGES, Arm, Case, OpenModel, Wanted, blank, run_arms
from toolflow_bench.metrics import Row
from toolflow_bench.rows import InvalidRunFile

FREE = Arm(suite="funcqa", model="m", mode="free", docs="full")
CALLS = replace(FREE, mode="calls")
FUZZY = replace(FREE, mode="fuzzy")
NAMES = replace(FREE, mode="calls", docs="names")
CASES = [Case(id=f"q-{number}", question=f"{number}?", expected=number) for number in range(BLOCK + 2)]


def row_of(case: Case, *, right: bool = True, error: str = "", tokens: int = 10, seconds: float = 1.0) -> Row:
    """A row as suites write it."""
    call = {"tool": "add", "class": error, "prompt_tokens": tokens, "enforced": None, "truncated": False}
    return replace(
        blank(case, seed=0),
        status="solved",
        correct=right and not error,
        failure=error or ("" if right else "wrong_answer"),
        made=({**call, "outcome": "done", "reused": False, "arguments": {}},),
        programs=("add(1, 2)",),
        attempts=1,
        output_tokens=4,
        seconds=seconds,
    )


class Asked:
    """Answers every question, and remembers what was asked in which order."""

    def __init__(self, failing: Mapping[tuple[str, str], Exception | type[BaseException]] | None = None) -> None:
        self.turns: list[tuple[str, str]] = []
        self.beside: dict[tuple[str, str], set[str]] = {}
        self.failing = dict(failing or {})
        self.warmed: list[str] = []

    def warm(self, arm: Arm, /) -> None:
        """Remember it."""
        self.warmed.append(arm.docs)

    def __call__(self, arm: Arm, case: Case, beside: Mapping[str, Row], /) -> Row:
        """A row, or what the test asks for."""
        turn = (arm.mode, case.id)
        self.turns.append(turn)
        self.beside[turn] = set(beside)
        if turn in self.failing:
            raise self.failing[turn]
        return row_of(case)


def run(folder: Path, arms: list[Arm], asked: Asked, cases: list[Case] = CASES, **more: Any) -> dict[Arm, list[Row]]:
    """Run the arms without a watch."""
    wanted = Wanted(suite="funcqa", folder=folder, **more)
    return run_arms(arms, cases, asked, wanted, data="d", watch=lambda *_: None, warm=asked.warm)


def test_arms_with_one_prompt_take_turns_and_mended_modes_come_last(tmp_path: Path) -> None:
    asked = Asked()
    run(tmp_path, [FREE, FUZZY, CALLS, NAMES], asked)
    ids = [case.id for case in CASES]
    one, two = ids[:BLOCK], ids[BLOCK:]
    modes = [("free", one), ("calls", one), ("fuzzy", one), ("calls", two), ("free", two), ("fuzzy", two)]
    full = [(mode, id_) for mode, some in modes for id_ in some]
    assert asked.turns[: len(full)] == full
    assert asked.turns[len(full) :] == [("calls", id_) for id_ in ids]
    assert asked.beside["fuzzy", "q-0"] == {"free", "calls"}
    assert asked.warmed == ["full", "names"]


def test_what_is_answered_is_not_asked_again_and_failures_are(tmp_path: Path) -> None:
    failing = {("free", "q-1"): ModelUnavailable("the model is down; start it."), ("calls", "q-2"): ValueError("bug")}
    first = run(tmp_path, [FREE, CALLS], Asked(failing))
    assert [row.status for row in first[FREE]][:3] == ["solved", "outage", "solved"]
    assert first[CALLS][2].status == "crash"
    assert first[CALLS][2].error == "ValueError: bug"
    again = Asked()
    second = run(tmp_path, [FREE, CALLS], again)
    assert again.turns == [("free", "q-1"), ("calls", "q-2")]
    assert all(row.graded for rows in second.values() for row in rows)


def test_a_stopped_run_goes_on_with_a_larger_sample(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, [FREE], Asked({("free", "q-3"): KeyboardInterrupt}), CASES[:5])
    asked = Asked()
    rows = run(tmp_path, [FREE], asked)
    assert [turn[1] for turn in asked.turns] == [case.id for case in CASES[3:]]
    assert [row.id for row in rows[FREE]] == [case.id for case in CASES]


def test_a_model_that_is_down_is_not_asked_for_ever(tmp_path: Path) -> None:
    asked = Asked({("free", case.id): ModelUnavailable("down; start it.") for case in CASES})
    rows = run(tmp_path, [FREE, CALLS], asked)
    assert [mode for mode, _ in asked.turns].count("free") == len(rows[FREE]) == MOST_OUTAGES
    assert len(rows[CALLS]) == len(CASES)


def test_another_run_is_not_continued(tmp_path: Path) -> None:
    run(tmp_path, [FREE], Asked())
    with pytest.raises(InvalidRunFile, match="seed was 0, is 1"):
        run(tmp_path, [FREE], Asked(), seed=1)
    wanted = Wanted(suite="funcqa", folder=tmp_path)
    with pytest.raises(InvalidRunFile, match="asked was '', is 'another prompt'"):
        run_arms([FREE], CASES, Asked(), wanted, data="d", watch=lambda *_: None, asked=lambda _: "another prompt")
    asked = Asked()
    run(tmp_path, [FREE], asked, seed=1, restart=True)
    assert len(asked.turns) == len(CASES)


def test_arms_have_files_of_their_own_that_tell_what_they_are(tmp_path: Path) -> None:
    wide = replace(NAMES, model="a/b c.gguf", settings={"relations": 30})
    run(tmp_path, [FREE, wide], Asked(), CASES[:2])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "funcqa-a_b_c.gguf-calls-names-relations_30.jsonl",
        "funcqa-m-free-full.jsonl",
    ]
    found = read_folder(tmp_path, suite="funcqa")
    assert {arm.name: len(rows) for arm, rows in found.items()} == {
        "a/b c.gguf calls names relations=30": 2,
        "m free full": 2,
    }
    with pytest.raises(InvalidRunFile, match="kamel"):
        read_folder(tmp_path, suite="kamel")


def test_figures_count_errors_by_class_and_outages_apart() -> None:
    rows = [
        row_of(CASES[0]),
        row_of(CASES[1], right=False),
        row_of(CASES[2], error="unknown-tool"),
        row_of(CASES[3], error="no-call"),
        replace(blank(CASES[4], seed=0), status="outage", error="down"),
    ]
    found = figures(FREE, rows)
    assert found.questions == 4
    assert found.left == 1
    assert found.errors == {"unknown-tool": 1, "no-call": 1}
    assert found.error is not None
    assert found.success is not None
    assert (found.error.mean, found.success.mean) == (0.5, 0.25)
    assert found.prompt_tokens == 10


def test_differences_are_paired_and_taken_to_the_free_arm() -> None:
    free = [row_of(case, error="malformed" if number < 3 else "", seconds=2.0) for number, case in enumerate(CASES[:6])]
    calls = [row_of(case, seconds=1.5) for case in CASES[:5]]
    names = [row_of(case, tokens=4) for case in CASES[:6]]
    report = CallReport(suite="funcqa", success="accuracy", rows={FREE: free, CALLS: calls, NAMES: names})
    found = {(d.arm, d.base): d for d in report.differences}
    assert set(found) == {(CALLS, FREE), (NAMES, FREE), (NAMES, CALLS)}
    one = found[CALLS, FREE]
    assert one.outcome.shared == 5
    assert one.error is not None
    assert one.error.mean == pytest.approx(-0.6)
    assert one.outcome.differences["seconds"].mean == pytest.approx(-0.5)
    tokens = found[NAMES, FREE].prompt_tokens
    assert tokens is not None
    assert tokens.mean == -6
    text = "\n".join(report.lines())
    assert "| m | free | full | 6 | 50.0% (19 to 81): malformed 3 |" in text
    assert json.loads(json.dumps(report.as_json()))["arms"]["m free full"]["errors"] == {"malformed": 3}


def test_success_is_shown_along_a_number_that_grows() -> None:
    arms = [replace(CALLS, docs="names", settings={"relations": count}) for count in (30, 10)]
    rows = {arm: [row_of(case, right=arm is arms[1]) for case in CASES[:2]] for arm in arms}
    text = "\n".join(CallReport(suite="kamel", success="right", rows=rows).lines())
    assert "| model | mode | docs | right, 10 relations | right, 30 relations |" in text
    assert "| m | calls | names | 100.0% (34 to 100) | 0.0% (0 to 66) |" in text


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """A suite that asks three questions, in place of FuncQA's."""
    told: dict[str, Any] = {"fail": {}}
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))

    def fake(wanted: Wanted, open_model: OpenModel, _config: Any, watch: Any, say: Any) -> CallReport:
        told["wanted"] = wanted
        rows: dict[Arm, list[Row]] = {}
        for model in wanted.models:
            with open_model(model) as ask:
                told.setdefault("asked", []).append(ask)
                say("three questions")
                arm = replace(FREE, model=model)
                rows |= run_arms([arm], CASES[:3], Asked(told["fail"]), wanted, data="d", watch=watch)
        return CallReport(suite="funcqa", success="accuracy", rows=rows)

    monkeypatch.setattr(suites, "find_suite", lambda _name: fake)
    return told


class Closing(ScriptedModel):
    """A model that counts how often it was closed."""

    closed = 0

    def close(self) -> None:
        """Count."""
        self.closed += 1


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> dict[str, Closing]:
    """The models that were chosen, by name."""
    chosen: dict[str, Closing] = {}

    def choose(config: Any, **_: Any) -> Ask:
        return chosen.setdefault(config.model, Closing(name=config.model))

    monkeypatch.setattr("atc.cli.bench_decoding.choose_model", choose)
    return chosen


def test_the_command_runs_a_suite_with_each_model(
    suite: dict[str, Any], models: dict[str, Closing], tmp_path: Path
) -> None:
    arguments = ["--suite", "funcqa", "--model", "a", "--model", "b", "--modes", "free,calls", "--sample", "7"]
    result = CliRunner().invoke(decoding, [*arguments, "--out", str(tmp_path / "rows"), "--json"])
    assert result.exit_code == 0, result.output
    wanted = suite["wanted"]
    assert (wanted.models, wanted.modes, wanted.sample, wanted.seed) == (("a", "b"), ("free", "calls"), 7, 0)
    assert [model.closed for model in models.values()] == [1, 1]
    report = json.loads(result.stdout)
    assert report["suite"] == "decoding-funcqa"
    assert list(report["arms"]) == ["a free full", "b free full"]
    assert "1/3" in result.stderr
    assert len(list((tmp_path / "rows").glob("*.jsonl"))) == 2


def test_the_command_says_how_to_go_on(suite: dict[str, Any], models: dict[str, Closing], tmp_path: Path) -> None:
    suite["fail"] = {("free", "q-1"): ModelUnavailable("the model is down; start it.")}
    arguments = ["--suite", "funcqa", "--model", "a", "--out", str(tmp_path / "rows")]
    result = CliRunner().invoke(decoding, arguments)
    assert result.exit_code == 3
    assert "q-1 in a free full: the model is down; start it." in result.stdout
    suite["fail"] = {("free", "q-1"): KeyboardInterrupt}
    result = CliRunner().invoke(decoding, arguments)
    assert f"--out {tmp_path / 'rows'}" in result.stderr
    assert models["a"].closed == 2
    suite["fail"] = {}
    assert CliRunner().invoke(decoding, arguments).exit_code == 0


def test_a_run_without_a_folder_goes_on_until_it_is_done(
    suite: dict[str, Any], models: dict[str, Closing], tmp_path: Path
) -> None:
    arguments = ["--suite", "funcqa", "--model", "a"]
    suite["fail"] = {("free", "q-1"): ModelUnavailable("the model is down; start it.")}
    assert CliRunner().invoke(decoding, arguments).exit_code == 3
    begun = suite["wanted"].folder
    assert begun.parent == tmp_path / "state" / "bench"
    suite["fail"] = {}
    assert CliRunner().invoke(decoding, arguments).exit_code == 0
    assert suite["wanted"].folder == begun
    assert json.loads((begun / "report.json").read_text())["arms"]["a free full"]["questions"] == 3
    (begun / "report.json").rename(begun / "report.json.old")
    assert CliRunner().invoke(decoding, [*arguments, "--seed", "1"]).exit_code == 0
    assert suite["wanted"].folder != begun


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--suite", "funcqa", "--modes", "magic"], "there is no 'magic'"),
        (["--suite", "restbench", "--modes", "fuzzy"], "there is free, calls, grounded"),
        (["--suite", "kamel", "--docs", "some"], "there is full, names"),
        (["--suite", "nothing"], "Invalid value for '--suite'"),
    ],
)
def test_wrong_options_are_told(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(decoding, arguments)
    assert result.exit_code == 2
    assert message in result.stderr
