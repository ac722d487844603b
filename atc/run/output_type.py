"""Typed answers: the answer of a run must be JSON of a Python type or of a JSON Schema.

An answer that does not conform is a fault. The model is then asked to repair the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from typing import Generic, TypeVar, cast

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from atc.core.answers import answer_value, attempt_value, parse_answer
from atc.core.task import TaskContext, read_context
from atc.core.text import clipped
from atc.core.types import Attempt, Fault, Solution
from atc.store.stored import StoreUnavailable, first_problem
from protocols.schema import JsonObject, JsonValue, as_mapping, dumps, loads
from protocols.validate import BoundedValidator

T = TypeVar("T")
_LONGEST_PROBLEM = 300
"""Maximum number of characters of the message about a wrong value, which it quotes."""


@dataclass(frozen=True, kw_only=True)
class TypedSolution(Solution, Generic[T]):
    """A solution whose answer was parsed as the requested type."""

    _output: T | None = field(default=None, repr=False)

    @property
    def output(self) -> T:
        """The answer as a value of the type.

        Raises:
            Unsolved: there is no answer, because the task failed or is paused, or it is doubtful.
        """
        self.raise_if_unsolved()
        return cast("T", self._output)


class WrongForm(ValueError):
    """Raised for an answer that does not have the required type. The message says why."""


class OutputType(Generic[T]):
    """The type that an answer must have: a pydantic model or another type that pydantic reads."""

    schema: JsonObject
    """The JSON Schema of the answer, which prompts show."""

    def __init__(self, of: type[T]) -> None:
        try:
            self._adapter: TypeAdapter[T] = TypeAdapter(of)
            self.schema = self._adapter.json_schema()
        except PydanticUserError as error:
            raise TypeError(
                f"output_type={of!r} cannot be used: {error.message.splitlines()[0]}"
            ) from error

    def add_to_context(self, context: TaskContext) -> TaskContext:
        """Return the context of a task with the form of the answer, which a stored run keeps."""
        return replace(context, answer_schema=dumps(self.schema))

    def check_attempt(self, attempt: Attempt) -> Attempt:
        """Return the attempt; it gets a fault if its answer does not have the required type."""
        try:
            if attempt.answer is not None:
                self.read_answer(attempt_value(attempt), attempt.answer)
        except WrongForm as error:
            message = f"the answer has not the form that the task asks for: {error}."
            return replace(attempt, fault=Fault(kind="no_answer", message=message))
        return attempt

    def read_answer(self, value: JsonValue, text: str) -> T:
        """Return an answer as a value of the type.

        `value` is the object that the program printed, and `text` its text. A printed text may be
        JSON. Where the type admits texts, the text of any object is one.

        Raises:
            ValueError: the answer does not have the type; it is a `WrongForm`.
        """
        problem = ""
        for candidate in self._candidates(value, text):
            try:
                return self._validate(candidate)
            except WrongForm as error:
                problem = problem or str(error)
        raise WrongForm(problem)

    def _candidates(self, value: JsonValue, text: str) -> Iterator[JsonValue]:
        """Yield what an answer may mean, the most likely meaning first."""
        yield value
        if isinstance(value, str):
            yield parse_answer(text)
        admitted = [one.get("type") for one in (self.schema, *self.schema.get("anyOf", ()))]
        if "string" in admitted:
            yield text

    def _validate(self, value: JsonValue) -> T:
        """Return a JSON value as a value of the type.

        Raises:
            WrongForm: the value does not have the type.
        """
        try:
            return self._adapter.validate_json(dumps(value))
        except ValidationError as error:
            raise WrongForm(first_problem(error)) from None

    def to_typed(self, solved: Solution) -> TypedSolution[T]:
        """Return the solution with its answer parsed as a value of the type."""
        known = {one.name: getattr(solved, one.name) for one in fields(Solution)}
        output = (
            self.read_answer(answer_value(solved.answer, solved.attempts), solved.answer)
            if solved.status == "solved" and solved.answer is not None
            else None
        )
        return TypedSolution(**known, _output=output)


class SchemaType(OutputType[JsonValue]):
    """The type that an answer must have, as a JSON Schema.

    Raises:
        ValueError: the schema is not valid.
    """

    def __init__(self, schema: JsonObject) -> None:
        self.schema = schema
        # As JSON Schema says, a `format` is a remark and no rule.
        self._checks = BoundedValidator(schema, formats=False)

    def _validate(self, value: JsonValue) -> JsonValue:
        """Return the value.

        Raises:
            WrongForm: the value does not conform to the schema.
        """
        broken = self._checks.find_violation(value)
        if broken is not None:
            message = clipped(broken.message.rstrip("."), _LONGEST_PROBLEM)
            raise WrongForm(": ".join(filter(None, [broken.path, message])))
        return value


class TableType(OutputType[JsonValue]):
    """An answer that is to be shown as a table. The model is told, and any answer is accepted."""

    def __init__(self) -> None:
        self.schema = {}

    def add_to_context(self, context: TaskContext) -> TaskContext:
        """Return the context of a task whose answer is a table."""
        return replace(context, answer_table=True)

    def _validate(self, value: JsonValue) -> JsonValue:
        return value


def as_output_type(of: type[T] | OutputType[T] | None) -> OutputType[T] | None:
    """Return the output type of a Python type; an output type and None are returned as they are.

    Raises:
        TypeError: pydantic cannot read the type.
    """
    return of if of is None or isinstance(of, OutputType) else OutputType(of)


def context_of(
    rules: str, now: datetime | date | str | None, of: type[T] | OutputType[T] | None
) -> TaskContext:
    """Return the context of a task: its rules, its date, and the form of its answer.

    Raises:
        InvalidTask, TypeError: See `read_context` and `as_output_type`.
    """
    context = read_context(rules, now)
    output = as_output_type(of)
    return context if output is None else output.add_to_context(context)


def stored_type(context: TaskContext) -> SchemaType | None:
    """Return the type that a stored run asks for, or None if it asks for none.

    Raises:
        StoreUnavailable: the stored type is no JSON Schema, because something else wrote it.
    """
    if not context.answer_schema:
        return None
    try:
        return SchemaType(as_mapping(loads(context.answer_schema)))
    except (ValueError, RecursionError) as error:
        raise StoreUnavailable(
            f"the stored type of the answer is no JSON Schema ({error}); begin a new run."
        ) from None


def final_value(answer: str | None, attempts: Sequence[Attempt], context: TaskContext) -> JsonValue:
    """Return the answer of a run as a JSON value, of the type that the run asked for, if any.

    An answer that does not have this type, because the run failed, is returned as it was printed.
    """
    value = answer_value(answer, attempts)
    if answer is None:
        return None
    try:
        wanted = stored_type(context)
        return value if wanted is None else wanted.read_answer(value, answer)
    except (WrongForm, StoreUnavailable):
        return value
