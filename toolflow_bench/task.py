"""A question with its right answer, a task of ToolFlow, and how files of them (JSON Lines) are read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import Field, FiniteFloat, Strict, StrictInt, TypeAdapter, ValidationError

from atc.config import demand
from protocols.errors import AtcError
from protocols.jsontypes import Json

AnswerType = Literal["number", "text", "set", "list", "none", "state"]
"""`none`: the honest answer is that there is none. `state`: what the run's writes must have left, whatever it says."""

Split = Literal["long", "short"]
"""`long`: at least 7 calls. `short`: 1 to 6."""

Text: TypeAlias = Annotated[str, Field(pattern=r"[\p{L}\p{N}]")]
"""With at least one letter or digit: punctuation is not compared, so it cannot be an answer."""

Names: TypeAlias = Annotated[tuple[Text, ...], Field(min_length=1)]

Records: TypeAlias = dict[str, dict[str, Annotated[list[Any], Field(min_length=1)]]]
"""By service and collection."""

CANDIDATES = 20
"""Tools that a task of ToolFlow is asked with, as in the paper (section 6.1)."""

TASKS = Path(__file__).parent / "tasks"
"""The folder of ToolFlow's tasks, a file a service and split."""

GOLD = Path(__file__).parent / "recipes" / "gold.jsonl"
"""Their gold programs and queries by id. Only a checkout has them: no package may teach a model the answers' way."""


class InvalidTask(AtcError):
    """A file of questions that cannot be used: names the file, the line and what is wrong there."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question as a person asks it, and its answer as `toolflow_bench.grade` compares it."""

    id: Text
    question: Text
    answer: Json
    """A number, a text, a list of them (for `set` and `list`), None (for `none`), or records (for `state`)."""
    type: AnswerType
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """How far a number may be off, absolutely."""
    accept: tuple[Text, ...] = ()
    """Other spellings of the answer."""
    state: Records | None = None
    """What writes must have left, beside the answer: `{}` where nothing may be written. None: it is not looked at."""
    calls: Annotated[int, Field(ge=1)] = 1
    """Tool calls that the shortest program needs."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Fields that nothing here reads, as they came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Question):
    """A question of ToolFlow with all that its answer rests on. `calls` is counted when the gold program runs."""

    split: Split
    services: Names
    """Those that its program calls, in order of the first call."""
    candidates: Names
    """Operation ids: those needed, and distractors drawn by seed, in an order drawn by seed."""
    operations: Names
    """Operation ids in the order in which the gold program calls them, repeats included."""
    pattern: Text
    """A digest of the gold program's data flow; tasks with one data flow have one pattern."""
    depth: Annotated[int, Field(ge=1)]
    """Calls in the longest chain in which each one's arguments come from the one before."""
    writes: bool = False
    """Whether the gold program writes."""
    program: str = ""
    """The gold program; empty where it is not known, as in the installed package."""
    query: str = ""
    """SQL that gives the answer straight from the data, where it is known; `toolflow_bench.derive` runs it."""


def load_questions(path: Path) -> tuple[Question, ...]:
    """The questions of a JSON Lines file, in its order. Blank lines are skipped.

    Raises:
        InvalidTask: the file is missing or not text, or a line is not a question.
    """
    return tuple(read_question(document, where=where) for document, where in _lines(path))


def load_tasks(
    folder: Path | None = None, *, split: Split | None = None, services: Sequence[str] = ()
) -> tuple[Task, ...]:
    """ToolFlow's tasks, in order of their files' names: of one split, and of these services, where given.

    A task that spans several services belongs to `services` where all of its own are among them.

    Raises:
        InvalidTask: there is no file of tasks, or a line is not a task.
    """
    folder = folder or TASKS
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise InvalidTask(f"no file of tasks (*.jsonl) in {str(folder)!r}; give a folder that has some.")
    tasks: dict[str, Task] = {}
    gold = _gold() if folder == TASKS else {}
    for path in paths:
        for document, where in _lines(path):
            task = read_task(document, where=where)
            if task.id in gold and not task.program:
                task = replace(task, program=gold[task.id]["program"], query=gold[task.id]["query"])
            if task.id in tasks:
                raise InvalidTask(f"{where}: the id {task.id!r} stands in another file too; give each task its own.")
            tasks[task.id] = task
    return tuple(
        task
        for task in tasks.values()
        if split in (None, task.split) and (not services or set(task.services) <= set(services))
    )


@cache
def _gold() -> Mapping[str, Mapping[str, str]]:
    lines = GOLD.read_text(encoding="utf-8").splitlines() if GOLD.exists() else []
    return {(entry := json.loads(line)).pop("id"): entry for line in lines}


def require_gold(tasks: Sequence[Task]) -> None:
    """See that the gold programs are known.

    Raises:
        InvalidTask: one is not.
    """
    if unknown := next((task.id for task in tasks if not task.program), None):
        raise InvalidTask(
            f"the gold program of {unknown!r} is not known: the installed package has answers and final states alone; "
            "run this in a checkout of the project."
        )


def to_document(task: Task) -> dict[str, Any]:
    """The task as a line of a file holds it, without fields that say nothing."""
    document = {key: value for key, value in asdict(task).items() if value not in ((), {}, 0.0, None, "")}
    kept = {"answer": task.answer} | ({} if task.state is None else {"state": task.state})
    return {key: (document | kept)[key] for key in asdict(task) if key in document | kept}


def read_question(document: Mapping[str, Json], *, where: str) -> Question:
    """The question of one JSON object; `where` names it in messages.

    Raises:
        InvalidTask: a field is missing, unknown but nearly a known one, or of the wrong type.
    """
    return _read(Question, document, where)


def read_task(document: Mapping[str, Json], *, where: str) -> Task:
    """The task of one JSON object; `where` names it in messages. Whether its tools exist is not looked at.

    Raises:
        InvalidTask: as `read_question`.
    """
    task = _read(Task, document, where)
    if not len(set(task.candidates)) == len(task.candidates) == CANDIDATES:
        raise InvalidTask(f"{where}: 'candidates' must be a list of {CANDIDATES} different names of tools.")
    if missing := set(task.operations) - set(task.candidates):
        raise InvalidTask(f"{where}: the gold program calls {min(missing)!r}, which is not among 'candidates'.")
    if len(task.operations) != task.calls:
        raise InvalidTask(f"{where}: 'operations' has {len(task.operations)} calls, 'calls' says {task.calls}.")
    return task


_Question = TypeVar("_Question", bound=Question)


def _read(kind: type[_Question], document: Mapping[str, Json], where: str) -> _Question:
    known = {one.name: one for one in fields(kind) if one.name != "extra"}
    for key in document:
        if key not in known and (near := get_close_matches(key, known, n=1, cutoff=0.8)):
            raise InvalidTask(f"{where}: unknown field {key!r}; did you mean {near[0]!r}?")
    needed = [key for key, one in known.items() if one.default is MISSING]
    for key in needed:
        if key not in document:
            raise InvalidTask(f"{where}: the field {key!r} is missing; needed are {', '.join(needed)}.")
    given: dict[str, Any] = {key: value for key, value in document.items() if key in known}
    given["extra"] = {key: value for key, value in document.items() if key not in known}
    try:
        found: _Question = _CHECKS[kind].validate_python(given)
    except ValidationError as error:
        problem = error.errors()[0]
        place, got = ".".join(map(str, problem["loc"])), problem["input"]
        raise InvalidTask(f"{where}: {place!r} {demand(problem)}, got {got!r}.") from error
    wanted, answers = _ANSWERS[found.type]
    try:
        answers.validate_python(found.answer)
    except ValidationError as error:
        told = f"the 'answer' of type {found.type!r} must be {wanted}, got {found.answer!r}"
        raise InvalidTask(f"{where}: {told}.") from error
    return found


def _lines(path: Path) -> list[tuple[Mapping[str, Json], str]]:
    """The objects of a file, each with the words that name its place."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        told = f"cannot read the questions in {str(path)!r}: {error.strerror}; give the file's path."
        raise InvalidTask(told) from error
    except UnicodeDecodeError as error:
        told = f"{str(path)!r} is not UTF-8 text; a file of questions has one JSON object a line."
        raise InvalidTask(told) from error
    documents: dict[str, tuple[Mapping[str, Json], str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        document = _object(line, where)
        name = str(document.get("id", where))
        if name in documents:
            raise InvalidTask(f"{where}: the id {name!r} stands twice; give each question its own.")
        documents[name] = document, where
    if not documents:
        raise InvalidTask(f"{str(path)!r} has no question in it; it needs one JSON object a line.")
    return list(documents.values())


def _object(line: str, where: str) -> Mapping[str, Json]:
    try:
        document = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidTask(f"{where}: not JSON ({error}); a question is one JSON object on one line.") from error
    if not isinstance(document, dict):
        raise InvalidTask(f"{where}: must be a JSON object, got {line.strip()[:40]!r}.")
    return document


_CHECKS: Mapping[type[Question], TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in (Question, Task)}
_Value: TypeAlias = Text | StrictInt | Annotated[FiniteFloat, Strict()]
_Items: TypeAlias = Annotated[list[_Value | Annotated[list[_Value], Field(min_length=1)]], Field(min_length=1)]
_ANSWERS: Mapping[AnswerType, tuple[str, TypeAdapter[Any]]] = {
    "number": ("a number", TypeAdapter(StrictInt | Annotated[FiniteFloat, Strict()])),
    "text": ("a text", TypeAdapter(Text)),
    "set": ("a list of texts and numbers", TypeAdapter(_Items)),
    "list": ("a list of texts and numbers", TypeAdapter(_Items)),
    "none": ("null", TypeAdapter(None)),
    "state": ("records by service and collection", TypeAdapter(Records)),
}
"""What an answer of each type must be, in words and for pydantic."""
