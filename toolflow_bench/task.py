"""Questions with their answers, tasks of ToolFlow, and the parser of their JSON Lines files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from atc.core.specs import demand
from protocols.errors import AtcError
from protocols.schema import Json

AnswerType = Literal["number", "text", "set", "list", "none", "state"]
"""Type of an answer, which decides how it is graded.

`none`: the correct answer is that nothing exists. `state`: the records that the run has written are
graded instead of its answer.
"""

Split = Literal["long", "short"]
"""Tasks by length. `long`: at least 7 calls. `short`: 1 to 6 calls."""

Text: TypeAlias = Annotated[str, Field(pattern=r"[\p{L}\p{N}]")]
"""A text with at least one letter or digit.

Grading ignores punctuation, so a text of punctuation alone cannot be an answer.
"""

Names: TypeAlias = Annotated[tuple[Text, ...], Field(min_length=1)]

Records: TypeAlias = dict[str, dict[str, Annotated[list[Any], Field(min_length=1)]]]
"""Records, grouped by service and collection."""

CANDIDATES = 20
"""Number of tools that a ToolFlow task offers to the model, as in section 6.1 of the ATC paper."""

TASKS = Path(__file__).parent / "tasks"
"""The folder of ToolFlow's tasks, with one file for each folder of recipes and each split."""

GOLD = Path(__file__).parent / "recipes" / "gold.jsonl"
"""File with the gold programs and queries, each with the id of its task.

Only a checkout has this file, so that no installed package can leak solutions to a model.
"""


class InvalidTask(AtcError):
    """A file of questions cannot be used. The message names the file, the line and the problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedQuestion:
    """A question in a user's words, with the answer that `toolflow_bench.grade` expects."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    id: Text
    question: Text
    answer: Json
    """The expected answer, whose form depends on `type`.

    A number, a text, a list of these (`set`, `list`), None (`none`), or records (`state`).
    """
    type: AnswerType
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Largest absolute difference that is allowed for a number."""
    accept: tuple[Text, ...] = ()
    """Other spellings of the answer that are also right."""
    state: Records | None = None
    """Records that the run must have written in addition to giving its answer.

    `{}` means that it must write nothing, and None that written records are not checked.
    """
    calls: Annotated[int, Field(ge=1)] = 1
    """Number of tool calls that the shortest program needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(GradedQuestion):
    """A task of ToolFlow: a question with its gold data.

    `calls` is the number of calls that the gold program made when it was run.
    """

    split: Split
    services: Names
    """Services that the gold program calls, in the order of their first call."""
    candidates: Names
    """Ids of the operations that are offered to the model.

    These are the needed operations and distractors, which are drawn and shuffled at random.
    """
    operations: Names
    """Ids of the operations that the gold program calls, in order, with repetitions."""
    pattern: Text
    """A digest of the gold program's data flow.

    Tasks with the same data flow have the same pattern.
    """
    depth: Annotated[int, Field(ge=1)]
    """Number of calls in the longest chain in which each call takes a value from the one before."""
    writes: bool = False
    """True if the gold program calls an operation that writes."""
    program: str = ""
    """The gold program; empty if unknown, as in the installed package."""
    query: str = ""
    """SQL that derives the answer from the data, or "". `toolflow_bench.derive` runs it."""


def load_questions(path: Path) -> tuple[GradedQuestion, ...]:
    """Return the questions in a JSON Lines file, in order. Blank lines are skipped.

    Raises:
        InvalidTask: the file is missing or not text, or a line is not a question.
    """
    return tuple(_read(GradedQuestion, [path]))


def load_tasks(
    folder: Path | None = None, *, split: str | None = None, services: Sequence[str] = ()
) -> tuple[Task, ...]:
    """Return the tasks in a folder (default: ToolFlow's), in the order of file names.

    If `split` is not None, only tasks of this split are returned. If `services` is not empty, only
    tasks that use no other services are. It is not checked that the tools of a task exist.

    Raises:
        InvalidTask: there is no file of tasks, or a line is not a task.
    """
    folder = folder or TASKS
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise InvalidTask(
            f"no file of tasks (*.jsonl) in {str(folder)!r}; give a folder that has some."
        )
    gold = _gold_programs() if folder == TASKS else {}
    return tuple(
        replace(task, **gold.get(task.id, {}))
        for task in _read(Task, paths)
        if split in (None, task.split) and (not services or set(task.services) <= set(services))
    )


@cache
def _gold_programs() -> Mapping[str, Mapping[str, Any]]:
    lines = GOLD.read_text(encoding="utf-8").splitlines() if GOLD.exists() else []
    return {(entry := json.loads(line)).pop("id"): entry for line in lines}


def require_gold(tasks: Sequence[Task]) -> None:
    """Check that every task has its gold program.

    Raises:
        InvalidTask: a task has no gold program.
    """
    if unknown := next((task.id for task in tasks if not task.program), None):
        raise InvalidTask(
            f"the gold program of {unknown!r} is not known: give its line a 'program', or for "
            "ToolFlow's own tasks run "
            "this in a checkout of the project: the installed package has answers and final "
            "states alone."
        )


def to_document(task: Task) -> dict[str, Any]:
    """Return the task as a JSON object for a task file. Fields with an empty value are left out."""
    document = {
        key: value for key, value in asdict(task).items() if value not in ((), {}, 0.0, None, "")
    }
    kept = {"answer": task.answer} | ({} if task.state is None else {"state": task.state})
    return {key: (document | kept)[key] for key in asdict(task) if key in document | kept}


_Question = TypeVar("_Question", bound=GradedQuestion)


def _read(kind: type[_Question], paths: Iterable[Path]) -> Iterable[_Question]:
    """Read the questions or tasks of JSON Lines files."""
    found: dict[str, _Question] = {}
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            told = (
                f"cannot read the questions in {str(path)!r} ({error}); give a file with one JSON "
                "object a line."
            )
            raise InvalidTask(told) from error
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                one = _of_line(kind, line, f"{path}, line {number}")
                if found.setdefault(one.id, one) is not one:
                    raise InvalidTask(
                        f"{path}, line {number}: the id {one.id!r} stands twice; give each its own."
                    )
    if not found:
        raise InvalidTask(
            f"no question in {', '.join(map(str, paths))}; it needs one JSON object a line."
        )
    return found.values()


def _of_line(kind: type[_Question], line: str, where: str) -> _Question:
    try:
        found: _Question = _CHECKS[kind].validate_json(line)
    except ValidationError as error:
        problem = error.errors()[0]
        place = "".join(f"{one!r} " for one in (".".join(map(str, problem["loc"])),) if one)
        told = _TOLD.get(problem["type"]) or f"{demand(problem)}, got {problem['input']!r}"
        raise InvalidTask(f"{where}: {place}{told}.") from error
    wanted, type_ = _ANSWERS[found.type]
    if not isinstance(found.answer, type_):
        raise InvalidTask(
            f"{where}: the 'answer' of type {found.type!r} must be {wanted}, got {found.answer!r}."
        )
    if isinstance(found, Task):
        if not len(set(found.candidates)) == len(found.candidates) == CANDIDATES:
            raise InvalidTask(
                f"{where}: 'candidates' must be a list of {CANDIDATES} different names of tools."
            )
        if missing := set(found.operations) - set(found.candidates):
            raise InvalidTask(
                f"{where}: the gold program calls {min(missing)!r}, which is not among "
                "'candidates'."
            )
        if len(found.operations) != found.calls:
            raise InvalidTask(
                f"{where}: 'operations' has {len(found.operations)} calls, 'calls' says "
                f"{found.calls}."
            )
    return found


_TOLD = {"missing": "is missing", "unexpected_keyword_argument": "is no field of a question"}
_CHECKS: Mapping[type[GradedQuestion], TypeAdapter[Any]] = {
    kind: TypeAdapter(kind) for kind in (GradedQuestion, Task)
}
_ANSWERS: Mapping[AnswerType, tuple[str, Any]] = {
    "number": ("a number", int | float),
    "text": ("a text", str),
    "set": ("a list of texts and numbers", list),
    "list": ("a list of texts and numbers", list),
    "none": ("null", type(None)),
    "state": ("records by service and collection", dict),
}
"""For each answer type, a description and the Python type of the field `answer`."""
