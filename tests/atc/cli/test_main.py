from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from atc import __version__
from atc.cli.errors import explain_error
from atc.cli.main import VERBS, _run_guarded, cli
from protocols.documentation import docs_page
from protocols.errors import InvalidProtocol, ModelUnavailable, SourceUnavailable, UnknownTool
from tests.labs import commands
from tests.labs.paths import DATA, ROOT
from tests.labs.patience import PATIENCE

HELP = DATA / "atc-help.txt"
MAIN = "from atc.cli.main import main; main()"


@pytest.fixture(autouse=True)
def _here(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def atc(*arguments: str, code: str = MAIN, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE, **options
    )  # type: ignore


def verbs(group: click.Group, name: str = "atc") -> Iterator[tuple[str, click.Command]]:
    for verb in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), verb)
        assert command is not None
        yield f"{name} {verb}", command
        if isinstance(command, click.Group):
            yield from verbs(command, f"{name} {verb}")


def test_help_shows_the_verbs_and_imports_nothing_heavy() -> None:
    code = (
        f"import sys\ntry:\n    {MAIN}\nfinally:\n    print(sorted(sys.modules), file=sys.stderr)"
    )
    done = atc("--help", code=code)
    assert (done.returncode, done.stdout) == (0, HELP.read_text(encoding="utf-8"))
    loaded = set(done.stderr.split("'")[1::2])
    assert "atc.cli.main" in loaded
    heavy = {
        "rich",
        "sqlite3",
        "requests",
        "openai",
        "pydantic",
        "jsonschema_rs",
        "platformdirs",
        "yaml",
        "numpy",
    }
    assert heavy & loaded == set()


def test_a_group_repeats_the_summaries_of_its_verbs() -> None:
    for name, (summary, _) in VERBS.items():
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.get_short_help_str(200).rstrip(".") == summary.rstrip("."), name


def test_every_verb_has_json_help_and_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for name, command in verbs(cli):
        if isinstance(command, click.Group):
            assert command.help, name
            continue
        assert "as_json" in {parameter.name for parameter in command.params}, name
        assert command.help, name
        assert f"{name} " in f"{' '.join((command.epilog or '').split())} ", name
        assert "Example" in (command.epilog or ""), name
        for flag in ("-h", "--help"):
            assert _run_guarded([*name.split()[1:], flag]) == 0, name
            assert capsys.readouterr().out.startswith(f"Usage: {name} ")


def test_version(atc_) -> None:
    assert atc_("--version") == (0, f"atc {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["rnu"], 2, "atc: No such command 'rnu'. Did you mean 'run'?"),
        (["--zzz"], 2, "atc: No such option '--zzz'; 'atc --help' shows how it is used."),
        (
            ["runs", "list", "--limit", "x"],
            2,
            "atc: Invalid value for '--limit': 'x' is not a whole number;",
        ),
        (["runs", "show", "last"], 2, "atc: no run 'last'; 'atc runs list' shows all."),
        (["tools", "list", "--tools", "nowhere.json"], 3, "atc: "),
    ],
)
def test_a_mistake_is_one_line_on_stderr(atc_, arguments: list[str], code: int, said: str) -> None:
    ended, out, err = atc_(*arguments)
    assert (ended, out, err.count("\n")) == (code, "", 1)
    assert err.startswith(said)


def test_usage_and_environment_errors_have_own_codes() -> None:
    assert explain_error(InvalidProtocol("a.json", "bad."))[1] == 2
    assert explain_error(UnknownTool("x", ["xy"]))[1] == 2
    assert explain_error(SourceUnavailable("down"))[1] == 3
    assert explain_error(ModelUnavailable("It is down.")) == (
        f"It is down. More: {docs_page('start/your-model')}",
        3,
    )


def test_a_bug_shows_its_traceback_only_on_request(atc_, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atc.settings.files.PROJECT_FILE", 3)
    code, out, err = atc_("config", "show")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert err.startswith("atc: a bug in atc: TypeError: ")
    monkeypatch.setenv("ATC_DEBUG", "1")
    code, out, traced = atc_("config", "show")
    assert (code, out) == (3, "")
    assert "Traceback (most recent call last)" in traced
    assert traced.splitlines()[-1] == err.strip()


def test_a_closed_stdout_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        done = commands.run(["bench", "list"], stdout=closed, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_unwritable_result_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        done = commands.run(["bench", "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 3
    assert done.stderr == "atc: No space left on device; set ATC_DEBUG=1 to see where.\n"


def test_every_verb_finds_a_wrong_setting(atc_, tmp_path: Path) -> None:
    (tmp_path / "atc.toml").write_text("modle = 'x'")
    for arguments in (
        ["config", "show"],
        ["doctor"],
        ["runs", "list"],
        ["tools", "list"],
        ["run", "x"],
    ):
        said = "atc: atc.toml: unknown setting 'modle'; did you mean 'model'?"
        said += f" More: {docs_page('reference/configuration')}\n"
        assert atc_(*arguments) == (2, "", said), arguments
