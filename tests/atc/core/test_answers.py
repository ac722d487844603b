"""Values of the answers that programs print."""

import pytest

from atc.core.answers import parse_answer


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
