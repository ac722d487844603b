"""One prepared program of a task, run by `atc run` with a model that writes it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.local import ATC
from benchmarks.services.grading import Grade, doubts_of, grade_report
from benchmarks.services.prepared_model import MODEL, serve_program
from benchmarks.services.service import RunningService
from benchmarks.services.service_tasks import ServiceTask, missing_builtins

_SECONDS = 240.0
_KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
"""Variables of the caller that `atc` gets. The others could be settings of the caller's own."""
_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedProgram:
    """What came of one program: its grade, and what the person who ran `atc` saw."""

    service: str
    task: str
    style: str
    grade: Grade
    answer: Any
    truth: Any
    reason: str
    """The doubts, or why there is no answer; empty if `atc` said nothing."""
    requests: int
    """Requests to the model; one is the least."""


def play_program(
    name: str, service: RunningService, task: ServiceTask, style: str, *, python: str, cache: Path
) -> PlayedProgram:
    """Run a program of a task with the `atc` of the Python `python`, and grade the answer.

    The run gets settings, state and a home folder of its own. `cache` keeps what does not depend on
    the run, such as indexes of tools.
    """
    program = task.programs[style]
    with serve_program(program) as model, tempfile.TemporaryDirectory() as home:
        report = _run_atc(service, task.question, python, Path(home), cache, model.url)
    prompt = model.prompts[0] if model.prompts else ""
    truth = service.truths[task.id]
    is_written = service.written.get(task.id, bool)
    grade = grade_report(report, truth, written=task.id not in service.written or is_written())
    if missing_builtins(program, prompt):
        grade = "not offered"
    return PlayedProgram(
        service=name,
        task=task.id,
        style=style,
        grade=grade,
        answer=report.get("answer"),
        truth=truth,
        reason=_reason(report),
        requests=len(model.prompts),
    )


def _run_atc(
    service: RunningService, question: str, python: str, home: Path, cache: Path, model: str
) -> Mapping[str, Any]:
    """Return the object that `atc run --json` prints, or one with the end of its messages."""
    settings = home / ".config" / "atc" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(service.settings, encoding="utf-8")
    settings.chmod(0o600)
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment |= {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(cache),
        "OPENAI_BASE_URL": model,
        "OPENAI_API_KEY": "none",
        **service.variables,
    }
    command = [python, *ATC, "run", question, "--tools", service.tools, "--model", MODEL]
    try:
        done = subprocess.run(
            [*command, "--allow-writes", "all", "--json"],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {_SECONDS:.0f} s"}
    with suppress(ValueError):
        report = json.loads(done.stdout)
        if isinstance(report, dict):
            return report
    return {"error": (done.stderr or done.stdout).strip()}


def _reason(report: Mapping[str, Any]) -> str:
    """Return the doubts of a run, or its error if it has none, shortened."""
    said = doubts_of(report) or [str(report.get("error") or "")]
    return " ".join(" ".join(dict.fromkeys(said)).split())[:_LONGEST]
