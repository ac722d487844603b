"""Answers of a requested type."""

from dataclasses import dataclass

import pytest

from atc.core.program import Program
from atc.core.task import TaskContext
from atc.core.types import Attempt
from atc.run.output_type import OutputType, WrongForm, final_value, stored_type
from atc.store.stored import StoreUnavailable
from sandbox.trace import Trace


@dataclass
class City:
    name: str


def test_an_answer_is_read_as_the_type():
    assert OutputType(int).read_answer(7, "7") == 7
    assert OutputType(int).read_answer("7", "7") == 7
    assert OutputType(City).read_answer("{'name': 'Oslo'}", "{'name': 'Oslo'}") == City("Oslo")
    assert OutputType(str).read_answer(7, "7") == "7"
    with pytest.raises(WrongForm):
        OutputType(int).read_answer("Oslo", "Oslo")


def test_prompts_and_stored_runs_have_the_type():
    context = OutputType(int).add_to_context(TaskContext())
    assert '"integer"' in context.add_to("How many?")
    answered = Attempt(Program("print('6')"), trace=Trace(stdout="6\n"))
    assert final_value("6", [answered], context) == 6
    assert final_value("six", [answered], context) == "six"
    assert final_value("6", [answered], TaskContext()) == "6"
    with pytest.raises(StoreUnavailable, match="no JSON Schema"):
        stored_type(TaskContext(answer_schema='{"type": 6}'))
