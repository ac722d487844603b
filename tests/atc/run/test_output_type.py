"""Answers of a requested type."""

from dataclasses import dataclass

import pytest
from pydantic import ValidationError

from atc.run.output_type import OutputType


@dataclass
class City:
    name: str


def test_an_answer_is_read_as_the_type():
    assert OutputType(int).read_answer("7") == 7
    assert OutputType(City).read_answer("{'name': 'Oslo'}") == City("Oslo")
    assert OutputType(str).read_answer("Oslo") == "Oslo"
    with pytest.raises(ValidationError):
        OutputType(int).read_answer("Oslo")
    assert '"integer"' in OutputType(int).add_to_task("How many?")
