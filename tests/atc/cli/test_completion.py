"""`atc completion`: the scripts, as bash runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from atc.store import Store
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE

_ATC = f"#!{sys.executable}\nfrom atc.cli.main import main; main()\n"
_ASK = """
source {script}
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
_atc_completion {command}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def complete(own_folders: Path, atc_):
    """Return what bash offers for the last of some words, and what is printed beside it."""
    command = own_folders / "bin" / "atc"
    command.parent.mkdir()
    command.write_text(_ATC)
    command.chmod(0o700)
    script = own_folders / "atc.bash"
    script.write_text(atc_("completion", "bash")[1])

    def ask(*words: str, atc: object = command) -> tuple[list[str], str]:
        done = subprocess.run(
            ["bash", "-c", _ASK.format(script=script, command=atc), "bash", *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        return done.stdout.split(), done.stderr

    return ask


def test_bash_completes_verbs_flags_and_names(complete) -> None:
    assert complete("atc", "ru") == (["run", "runs"], "")
    assert complete("atc", "run", '"a task"', "--max-c") == (["--max-calls", "--max-cost"], "")
    assert complete("atc", "run", "--strategy", "re")[0] == ["react", "react@3", "restgpt"]
    assert "gpt-4o" in complete("atc", "run", "--model", "g")[0]
    assert complete("atc", "runs", "show", "") == (["last"], "")


def test_run_ids_are_completed_without_their_texts(complete, own_folders: Path) -> None:
    with Store(own_folders / "state" / "runs.sqlite") as store:
        hostile = f"$(touch {own_folders}/taken) `touch {own_folders}/taken`\n\x1b[31m"
        run = store.create(hostile, model=hostile)
        store.finish(run, status="error", error=hostile)
        store._db.execute("INSERT INTO runs SELECT ?, created, document FROM runs", (hostile,))
        store._db.commit()
    assert complete("atc", "runs", "show", "") == (["last", run], "")
    assert complete("atc", "runs", "show", hostile) == ([], "")
    assert not (own_folders / "taken").exists()


def test_errors_print_nothing_into_the_shell(complete, own_folders: Path) -> None:
    assert complete("atc", "ru", atc=own_folders / "nowhere") == ([], "")
    broken = own_folders / "broken"
    broken.write_text(f"#!{sys.executable}\nraise SystemError\n")
    broken.chmod(0o700)
    assert complete("atc", "ru", atc=broken) == ([], "")
    (own_folders / "state").write_text("no folder")
    assert complete("atc", "runs", "show", "") == (["last"], "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_accepted_by_its_shell(atc_, own_folders: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    code, script, err = atc_("completion", shell)
    assert (code, err) == (0, "")
    done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_shell_is_one_sentence(atc_) -> None:
    code, out, err = atc_("completion", "tcsh")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "'bash', 'zsh', 'fish'" in err
