"""The text of a task, and what its caller says beside it."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from atc.core.task import LONGEST_TASK, InvalidTask, read_context, readable


def test_a_task_is_a_text_of_some_length():
    assert readable(" How many? ") == "How many?"
    for wrong in ("", "  ", 7, "x" * (LONGEST_TASK + 1)):
        with pytest.raises(InvalidTask):
            readable(wrong)


@pytest.mark.parametrize(
    "now",
    [
        "2023-11-30",
        "2023-11-30T00:00",
        "2023-11-30T00:00Z",
        date(2023, 11, 30),
        datetime(2023, 11, 30, tzinfo=UTC),
        datetime(2023, 11, 30, 1, tzinfo=timezone(timedelta(hours=1))),
    ],
)
def test_a_date_is_midnight_in_utc(now):
    context = read_context(now=now)
    assert context.clock == 1_701_302_400.0
    assert context.add_to("How many?") == (
        "How many?\n\nToday is Thursday, 30 November 2023; it is 00:00 UTC."
    )


@pytest.mark.parametrize("now", ["tomorrow", "", "1969-12-31", "9999-01-01", 7, [], True])
def test_other_dates_are_refused(now):
    with pytest.raises(InvalidTask, match="now must be a date from 1970"):
        read_context(now=now)


def test_rules_are_a_text_of_some_length():
    assert read_context().add_to("How many?") == "How many?"
    assert read_context(" Be brief. ").add_to("How many?").endswith(":\nBe brief.")
    for wrong in (7, None, "x" * (LONGEST_TASK + 1)):
        with pytest.raises(InvalidTask):
            read_context(wrong)
