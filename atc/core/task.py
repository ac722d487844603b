"""The text of a task, and what belongs to it.

These are rules, the date of the run, the form of the answer, and earlier tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from reprlib import repr as shortened

from atc.core.prompts import fill
from protocols.errors import AtcError
from protocols.schema import Json, JsonObject
from protocols.truncate import clip_text

LONGEST_TASK = 20_000
"""Longest task, in characters. A longer one would leave no room for tools in a small prompt."""
_LONGEST_EARLIER = 1_500
"""Maximum number of characters of the task before this one in prompts."""
_YEARS = range(1970, 9999)
"""Years that the clock of a program can show."""


class InvalidTask(AtcError):
    """Raised for a task that cannot be solved.

    The task, its rules or its date is no text, is empty, or is too long. Or the caller's program
    cannot be given one of its arguments.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierTask:
    """A task that was run before, and what came of it, as the prompts of a later task show it.

    Secrets in it are replaced by placeholders. `by_user` is False if somebody else than the user
    may have written `task`.
    """

    run: str = ""
    """Id of the stored run; "" if the run was not stored."""
    task: str
    ended: str = ""
    """A sentence that introduces `answer` and says how the run ended, such as `It answered:`."""
    answer: str = ""
    program: str = ""
    """The source of its last program; "" if prompts show only the task and the answer."""
    results: str = ""
    """A line for each of its calls, with the shape (types and keys) of the response."""
    by_user: bool = True

    def format(self) -> str:
        """Return the part of a prompt that shows the task."""
        task = clip_text(self.task, _LONGEST_EARLIER)
        if not self.program:
            return fill("follow_up_brief", task=task, ended=self.ended, answer=self.answer)
        return fill(
            "follow_up_run",
            task=task,
            program=self.program,
            ended=self.ended,
            answer=self.answer,
            results=self.results,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """The rules and the date that the caller of a run gives, and the tasks that this one follows.

    Prompts show the rules and the date below the task, under headings of their own. They do not
    count as the user's words. No doubt about an answer rests on them, and a value in them is not
    trusted as one that the user typed.
    """

    rules: str = ""
    """Rules that the program and its answer must follow, such as the policy of a company."""
    now: str = ""
    """Date and time at which the programs' clock starts, in ISO 8601 with UTC's offset.

    If it is "", the clock starts when the run begins, and prompts name no date.
    """
    answer_schema: str = ""
    """The JSON Schema of the answer, as JSON; "" if any answer will do."""
    answer_table: bool = False
    """True if the answer is to be shown as a table. The model is told, and nothing is checked."""
    arguments: JsonObject = field(default_factory=dict)
    """The arguments that the caller gave to a program of their own, keyed by name.

    Each of their values counts as the user's, but only as a whole.
    """
    names_program: bool = False
    """True if the run's task only names the caller's program, so it is not the user's words."""

    earlier: tuple[EarlierTask, ...] = ()
    """The tasks that this one follows, oldest first. Prompts show them before the task."""
    secrets: Mapping[str, Json] = field(default_factory=dict, repr=False)
    """The secrets whose placeholders occur in `earlier`, keyed by placeholder."""

    @property
    def has_foreign_words(self) -> bool:
        """True if prompts contain words that are not the user's: rules, or results of tools."""
        return bool(self.rules or self.earlier)

    def with_earlier_tasks(self, task: str) -> str:
        """Return the task below the tasks that it follows, which say what it may leave out."""
        return "\n\n".join([*(one.task for one in self.earlier), task])

    def own_words(self, task: str) -> str:
        """Return the user's words: the task, and those of the earlier tasks that the user wrote.

        The answers to them are not among these words, because tools gave them.
        """
        return "\n\n".join([*(one.task for one in self.earlier if one.by_user), task])

    @property
    def clock(self) -> float | None:
        """The Unix time of `now`, or None if the caller gave none."""
        return datetime.fromisoformat(self.now).timestamp() if self.now else None

    def add_form_to(self, task: str) -> str:
        """Return the task with the form of its answer below it, if a form is required."""
        if self.answer_schema:
            return f"{task}\n\n{fill('typed', schema=self.answer_schema)}"
        return f"{task}\n\n{fill('table')}" if self.answer_table else task

    def add_to(self, task: str) -> str:
        """Return the task as prompts show it, with the form, the rules and the date below it.

        The tasks that it follows are above it.
        """
        parts = [self.add_form_to(task)]
        if self.earlier:
            shown = "\n\n".join(one.format() for one in self.earlier)
            parts = [fill("follow_up", earlier=shown, task=parts[0])]
        if self.rules:
            parts.append(fill("rules", rules=self.rules))
        if self.now:
            moment = datetime.fromisoformat(self.now)
            day = f"{moment:%A}, {moment.day} {moment:%B} {moment.year}"
            parts.append(fill("today", day=day, time=f"{moment:%H:%M}"))
        return "\n\n".join(parts)


def read_context(rules: str = "", now: datetime | date | str | None = None) -> TaskContext:
    """Return the context of a task, with `now` in UTC.

    A date without a time means midnight, and a time without a time zone is in UTC.

    Raises:
        InvalidTask: The rules are not text or too long, or `now` is no date that a clock can show.
    """
    if not isinstance(rules, str):
        raise InvalidTask(f"the rules must be a text, got {shortened(rules)}.")
    text = rules.strip()
    if len(text) > LONGEST_TASK:
        raise InvalidTask(
            f"the rules have {len(text):,} characters, more than {LONGEST_TASK:,}; leave out those"
            " that the task does not need."
        )
    return TaskContext(rules=text, now="" if now is None else _read_moment(now))


def _read_moment(now: datetime | date | str) -> str:
    """Return a date and time in ISO 8601, in UTC.

    Raises:
        InvalidTask: It is no date, or its year is not in `_YEARS`.
    """
    try:
        moment = datetime.fromisoformat(now.strip()) if isinstance(now, str) else now
        if not isinstance(moment, datetime):
            moment = datetime.combine(moment, time())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        moment = None
    if moment is None or moment.year not in _YEARS:
        raise InvalidTask(
            f"now must be a date from {_YEARS[0]} to {_YEARS[-1]}, such as '2023-11-30' or"
            f" '2023-11-30T09:15', got {shortened(now)}."
        )
    return moment.isoformat()


def readable(task: str) -> str:
    """Check the text of a task, and return it without surrounding blanks.

    Raises:
        InvalidTask: The task is not text, is empty, or has more than `LONGEST_TASK` characters.
    """
    if not isinstance(task, str):
        raise InvalidTask(
            f"the task must be a text, got {shortened(task)}; say in words what is to be done."
        )
    text = task.strip()
    if not text:
        raise InvalidTask("the task is empty; say what is to be found out or done.")
    if len(text) > LONGEST_TASK:
        raise InvalidTask(
            f"the task has {len(text):,} characters, more than {LONGEST_TASK:,};"
            " put data where a tool can read it."
        )
    return text
