"""The suite `flights`: `examples/flights.jsonl`, answered with the built-in flights service."""

from __future__ import annotations

from pathlib import Path

from toolflow_bench.task import InvalidTask, Question, load_questions

QUESTIONS = Path("examples/flights.jsonl")
"""Where the questions stand in a checkout; they are not part of the installed package."""


def load(path: Path | None = None) -> tuple[Question, ...]:
    """The questions of `path`, else of `QUESTIONS` in the current folder.

    Raises:
        InvalidTask: there is no such file, or it is not one of questions.
    """
    if path is None and not QUESTIONS.exists():
        raise InvalidTask(
            f"the suite 'flights' reads its questions from {str(QUESTIONS)!r}, which is not in {str(Path.cwd())!r}; "
            "run it in a checkout of the project, or give --data FILE."
        )
    return load_questions(path or QUESTIONS)
