"""Values of the answers that programs print."""

import pytest

from atc.core.answers import answer_value, attempt_value, parse_answer
from atc.core.program import Program
from atc.core.types import Attempt
from sandbox.trace import Trace


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ('{"a": [1, null]}', {"a": [1, None]}),
        ("{'a': (1, None)}", {"a": (1, None)}),
        ("12.5", 12.5),
        ("None", None),
        ("NaN", "NaN"),
        ("1,234", "1,234"),
        ("+49 30 1234", "+49 30 1234"),
        ("[1, 2", "[1, 2"),
    ],
)
def test_json_and_python_values_are_read(printed, value):
    assert parse_answer(printed) == value


@pytest.mark.parametrize(
    ("source", "stdout", "printed", "value"),
    [
        ("print(rows)", "[1]", ([1],), [1]),
        ("print(None)", "None", (None,), None),
        ("print('6')", "6", (), "6"),
        ("print(json.dumps([6]))", "[6]", (), [6]),
        ("text = dumps([6])\nprint_answer(text)", "[6]", (), [6]),
        ("body = json.dumps(q)\nfind(body)\nprint(title)", "[6]", (), "[6]"),
        ("print(json.dumps(a))\nprint(json.dumps(b))", "1\n2", (), "1\n2"),
    ],
)
def test_the_type_is_that_of_the_printed_object(source, stdout, printed, value):
    attempt = Attempt(Program(source), trace=Trace(stdout=f"{stdout}\n", printed=printed))
    assert attempt_value(attempt) == value
    assert answer_value(stdout, [attempt, Attempt(Program(""))]) == value


def test_other_answers_are_texts_or_last_values():
    attempt = Attempt(Program("[6]"), trace=Trace(value=[6]))
    assert answer_value("[6]", [attempt]) == [6]
    assert answer_value("[7]", [attempt]) == "[7]"
    assert answer_value(None, [attempt]) is None
