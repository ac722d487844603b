"""The text of a task."""

import pytest

from atc.core.task import LONGEST_TASK, InvalidTask, readable


def test_a_task_is_a_text_of_some_length():
    assert readable(" How many? ") == "How many?"
    for wrong in ("", "  ", 7, "x" * (LONGEST_TASK + 1)):
        with pytest.raises(InvalidTask):
            readable(wrong)
