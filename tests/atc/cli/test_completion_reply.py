"""The answer to a shell, and the outline that it is made from."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

from atc.cli.completion_reply import OUTLINE
from tests.labs.paths import ROOT


def test_the_outline_is_that_of_the_commands() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "completion.py"))["outline"]()
    assert OUTLINE.read_text(encoding="utf-8") == made, "run: python scripts/completion.py"


def test_an_answer_imports_nothing_heavy(own_folders: Path) -> None:
    code = (
        "import sys\nfrom atc.cli.main import main\ntry:\n    main()\nfinally:\n"
        "    print(sorted(sys.modules), file=sys.stderr)"
    )
    asked = {
        "COMP_WORDS": "atc runs show ",
        "COMP_CWORD": "",
        "_ATC_COMPLETE": "fish_complete",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | asked
    )
    assert "plain,last\tthe latest run" in done.stdout
    loaded = set(done.stderr.split("'")[1::2])
    assert "atc.cli.completion_reply" in loaded
    assert loaded & {"pydantic", "rich", "requests", "openai", "atc.agent", "yaml"} == set()
