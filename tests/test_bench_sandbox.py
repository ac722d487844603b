"""`atc bench run sandbox`: coverage, latency and soak on the real default sandbox, and the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from atc.cli.main import _guarded
from sandbox.base import Sandbox
from sandbox.trace import Failure, Trace
from toolflow_bench.sandboxes import backends, soak_host
from toolflow_bench.sandboxes.coverage import Said, compare, first_difference, plain
from toolflow_bench.sandboxes.latency import ENDLESS, measure_latency
from toolflow_bench.sandboxes.programs import Program
from toolflow_bench.sandboxes.soak import measure_soak

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

# It answers what the soak's programs print, and leaves something behind each time.
UNTIDY = """
import os, random, re, subprocess, tempfile, threading
from sandbox.trace import Trace
from toolflow_bench.sandboxes import state

KEPT = []
state.SETTLE_SECONDS = 0.2  # nothing that it leaves ever goes


class Untidy:
    name, boundary, layers = "untidy", False, ()

    def __init__(self):
        self.runs = 0

    def run(self, source, tools, *, limits, journal):
        self.runs += 1
        if self.runs == 200:
            KEPT.append(open(os.devnull))
            subprocess.Popen(["sleep", "60"])
            tempfile.mkstemp()
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        KEPT.append(b"x" * 100_000)
        return Trace(stdout=f"{source[6:-1]}\\n")

    def close(self):
        pass
"""


@pytest.fixture(scope="module")
def zygote() -> Sandbox:
    sandbox = backends.open_backend("zygote")
    yield sandbox
    sandbox.close()


@pytest.fixture
def atc_(capsys: pytest.CaptureFixture[str]):
    def run(*arguments: str) -> tuple[int, str, str]:
        code = _guarded(("bench", "run", "sandbox", *arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "modules"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(str(folder))
    return folder


def folder_of(path: Path, **programs: str) -> str:
    path.mkdir()
    for name, source in programs.items():
        (path / f"{name}.py").write_text(source)
    return str(path)


def test_cpython_alone_is_the_measure() -> None:
    said = plain("import sys\nprint(get_item(id=2), list_items(page=9), echo(text='é'), __name__, sys.argv)")
    assert said == Said("{'id': 2, 'name': 'item 2', 'price': 3.0} [] é __main__ ['program.py']\n", None)
    assert plain("try:\n    get_item(id=-1)\nexcept ToolError as e:\n    print(e.status, e)").stdout == (
        "404 HTTP 404: no item -1\n"
    )
    assert plain("print(1)\n{}['a']") == Said("1\n", "KeyError")
    assert plain("x = = 1") == Said("", "SyntaxError")
    assert plain("raise SystemExit") == Said("", None)
    assert plain("import os\nos._exit(3)") == Said("", "exit code 3")
    assert plain("get_item(1)") == Said("", "TypeError")


def test_ordinary_programs_are_compared(zygote: Sandbox) -> None:
    def state(source: str) -> tuple[str, str]:
        comparison = compare(Program("p", source), zygote)
        return comparison.state, comparison.reason

    assert state("import random\nprint(random.random(), sorted({'b', 'a'}), get_item(id=1))\n{}['x']") == ("same", "")
    assert state("import time\nprint(time.time_ns())") == ("varies", "CPython itself prints something else each time")
    assert state("import os\nprint(1)\nprint(os.getcwd() == '/')")[0] == "differs"


def test_the_first_difference_is_named() -> None:
    failed = Failure(kind="exception", type="KeyError", message="'a'")
    for ours, theirs, failure, said in (
        (Said("1\n2\n", None), Said("1\n3\n", None), None, "line 2: '2' where CPython prints '3'"),
        (Said("1\n", "KeyError"), Said("1\n2\n", None), failed, "line 2 is missing: '2' (KeyError: 'a')"),
        (Said("1\n2\n", None), Said("1\n", None), None, "line 2 is too much: '2'"),
        (Said("", "KeyError"), Said("", None), failed, "it ends with KeyError: 'a' where CPython ends with no failure"),
        (Said("1", None), Said("1\n", None), None, "the ends of lines differ"),
    ):
        assert first_difference(ours, theirs, failure) == said


def test_latency_of_the_zygote() -> None:
    found = measure_latency(
        lambda: backends.open_backend("zygote"), runs=5, on_demand=backends.open_on_demand("zygote"), overruns=5
    )
    assert found.warm_ms.count == 5
    assert found.prefork_ms is not None
    assert 0 < found.prefork_ms.minimum <= found.prefork_ms.p50 <= found.prefork_ms.p95 <= found.prefork_ms.maximum
    assert found.on_demand_ms is not None
    assert found.call_us is not None
    assert found.call_us.count == 999
    assert found.idle_child_bytes is not None
    assert 0 < found.idle_child_bytes < 100 * 2**20
    assert set(found.overrun_worst_ms) == set(ENDLESS), found.other_ends
    assert 0 < found.overrun_ms.maximum < 2000
    assert found.cold_ms > found.prefork_ms.minimum


def test_endless_programs_that_end_otherwise_are_told() -> None:
    class Broken:
        name = "broken"

        def run(self, source: str, tools: object, **_: object) -> Trace:
            failure = None if "print(1)" in source else Failure(kind="exception", type="E", message="refused")
            return Trace(stdout="1\n", failure=failure)

        def close(self) -> None:
            pass

    found = measure_latency(Broken, runs=2, on_demand=None, overruns=5)
    assert found.other_ends == dict.fromkeys(ENDLESS, "exception: refused")
    assert (found.overrun_worst_ms, found.call_us, found.prefork_ms, found.idle_child_bytes) == ({}, None, None, None)


def test_a_soak_of_the_zygote_leaves_nothing() -> None:
    told: list[int] = []
    found = measure_soak("zygote", runs=100, jobs=4, seed=1, on_progress=lambda done, _: told.append(done))
    assert (found.runs, found.troubles, found.leaks) == (100, (), ())
    assert found.passed
    assert found.ends["ordinary finished"] == 90
    assert sum(count for end, count in found.ends.items() if end.startswith("hostile ")) == 10
    assert found.runs_per_second > 0
    assert told[-1] == 100


def test_a_soak_sees_what_is_left(modules: Path) -> None:
    (modules / "untidy.py").write_text(UNTIDY)
    found = measure_soak("untidy:Untidy", runs=300, jobs=2, seed=0)
    left = " | ".join(found.leaks)
    for what in (
        "1 more processes than before",
        "outlived the host",
        "temporary file",
        "new descriptor",
        "new threads",
    ):
        assert what in left
    assert not found.flat
    assert not found.passed
    assert found.trouble > 0
    assert any("where it prints" in text for text in found.troubles)


def test_the_soaks_programs_repeat() -> None:
    first, again, other = (soak_host.jobs(50, [("a", "b")], seed) for seed in (1, 1, 2))
    assert first == again != other
    assert sum(job.hostile for job in first) == 5


def test_the_command_gives_verdicts_and_exit_codes(atc_, tmp_path: Path) -> None:
    ordinary = folder_of(tmp_path / "ordinary", one="print(get_item(id=1))")
    hostile = folder_of(tmp_path / "hostile", read="# category: files\nprint(open('@CANARY_DIR@/secret.txt').read())")
    out = tmp_path / "report.json"
    code, text, err = atc_(
        "--hostile", hostile, "--ordinary", ordinary, "--runs", "0", "--json", "--out", str(out), "--seed", "7"
    )
    assert code == 0, err
    report = json.loads(text)
    assert report == json.loads(out.read_text())
    (backend,) = report["backends"]
    assert (report["passed"], report["seed"], backend["backend"], backend["latency"]) == (True, 7, "zygote", None)
    assert backend["boundary"]
    assert backend["layers"]
    assert backend["containment"]["contained"] == backend["containment"]["programs"] == 1
    (verdict,) = backend["containment"]["verdicts"]
    assert (verdict["program"], verdict["category"], verdict["verdict"]) == ("read", "files", "contained")
    assert verdict["failure"].startswith("exception ")
    assert backend["ordinary"]["comparisons"][0]["state"] == "same"
    assert "  1/1  contained" in err


def test_the_command_for_people_fails_where_something_is_not_contained(atc_, tmp_path: Path) -> None:
    hostile = folder_of(tmp_path / "hostile", fine="print(1)", loud="print('ESCAPED')")
    code, text, _ = atc_("--hostile", hostile, "--runs", "0")
    assert code == 1
    lines = text.splitlines()
    assert lines[0].startswith("zygote: ")
    assert lines[1].split()[:2] == ["fine", "contained"]
    assert lines[2].split()[:2] == ["loud", "ESCAPED"]
    assert lines[2].endswith("printed: ESCAPED")
    assert lines[3] == "  hostile   1 of 2 contained"
    ordinary = folder_of(tmp_path / "ordinary", variable="import os\nprint('PATH' in os.environ)")
    code, text, _ = atc_("--ordinary", ordinary, "--runs", "0")
    assert code == 1
    assert "differs    line 1: 'False' where CPython prints 'True'" in text


def test_mistakes_are_told_before_anything_runs(atc_, tmp_path: Path, modules: Path) -> None:
    (modules / "absent.py").write_text(
        "from sandbox.errors import SandboxUnavailable\n"
        "def make():\n    raise SandboxUnavailable('no engine; install one')\n"
    )
    empty = folder_of(tmp_path / "empty")
    for arguments, code, said in (
        (("--hostile", str(tmp_path / "none")), 2, "none' is no folder"),
        (("--ordinary", empty), 2, "holds no *.py file"),
        (("--backend", "zygot"), 2, "no sandbox named 'zygot'; did you mean 'zygote'?"),
        (("--backend", "x"), 2, "there is zygote, docker, monty, trusted, or MODULE:FACTORY of your own."),
        (("--backend", "no_module:X"), 2, "No module named 'no_module'"),
        (("--without", "walls"), 2, "cannot go without walls: no layer 'walls'"),
        (("--backend", "absent:make"), 3, "the sandbox 'absent:make' cannot be measured here: no engine; install one"),
    ):
        got, out, err = atc_(*arguments)
        assert (got, out) == (code, ""), (arguments, err)
        assert said in err
        assert err.count("\n") == 1


def test_options_may_stand_before_the_suite(capsys: pytest.CaptureFixture[str]) -> None:
    assert _guarded(("bench", "run", "--limit", "1", "flights", "--data", "nowhere.jsonl")) == 2
    assert "nowhere.jsonl" in capsys.readouterr().err
    assert _guarded(("bench", "run", "--help")) == 0
    out = capsys.readouterr().out
    assert "flights    Ask" in out
    assert "sandbox    Run" in out
