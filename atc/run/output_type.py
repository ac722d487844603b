"""Typed answers: the task asks for an answer in JSON that conforms to a pydantic type.

An answer that does not conform is a fault. The model is then asked to repair the program.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Generic, TypeVar, cast

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from atc.core.answers import parse_answer
from atc.core.prompts import fill
from atc.core.types import Attempt, Fault, Solution
from atc.store.stored import first_problem
from protocols.schema import dumps

T = TypeVar("T")


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


class OutputType(Generic[T]):
    """The type that an answer must have: a pydantic model or another type that pydantic reads."""

    def __init__(self, of: type[T]) -> None:
        try:
            self._adapter: TypeAdapter[T] = TypeAdapter(of)
            self._schema = self._adapter.json_schema()
        except PydanticUserError as error:
            raise TypeError(
                f"output_type={of!r} cannot be used: {error.message.splitlines()[0]}"
            ) from error

    def add_to_task(self, task: str) -> str:
        """Return the task followed by a description of the required form of the answer."""
        return f"{task}\n\n{fill('typed', schema=dumps(self._schema))}"

    def check_attempt(self, attempt: Attempt) -> Attempt:
        """Return the attempt; it gets a fault if its answer does not have the required type."""
        try:
            if attempt.answer is not None:
                self.read_answer(attempt.answer)
        except ValidationError as error:
            message = f"the answer has not the form that the task asks for: {first_problem(error)}."
            return replace(attempt, fault=Fault(kind="no_answer", message=message))
        return attempt

    def read_answer(self, answer: str) -> T:
        """Return the answer, which is text, as a value of the type.

        Raises:
            pydantic.ValidationError: the answer does not have the type.
        """
        try:
            return self._adapter.validate_json(dumps(parse_answer(answer)))
        except ValidationError:
            if "string" not in [
                one.get("type") for one in (self._schema, *self._schema.get("anyOf", ()))
            ]:
                raise
            return self._adapter.validate_python(answer)

    def to_typed(self, solved: Solution) -> TypedSolution[T]:
        """Return the solution with its answer parsed as a value of the type."""
        known = {one.name: getattr(solved, one.name) for one in fields(Solution)}
        output = (
            self.read_answer(solved.answer)
            if solved.status == "solved" and solved.answer is not None
            else None
        )
        return TypedSolution(**known, _output=output)
