"""Dates and times that a task writes in words."""

import pytest

from atc.pipeline.written_dates import find_unused_dates, find_unused_times


@pytest.mark.parametrize(
    ("task", "used", "unused"),
    [
        ("flights on 4 July 2013", "date='2013-07-14'", ["4 July 2013"]),
        ("flights on July 4th, 2013", "date='2013-07-03'", ["July 4th, 2013"]),
        ("flights on the 22nd of July", "date='2013-07-02'", ["22nd of July"]),
        ("cancelled on Christmas Day 2013", "date='2013-12-24'", ["Christmas Day 2013"]),
        ("flights on 4 July 2013", "date='2014-07-04'", ["4 July 2013"]),
        ("from 3 to 5 May 2013", "'2013-05-01' '2013-05-02'", ["5 May 2013"]),
    ],
)
def test_a_date_that_nothing_has(task, used, unused):
    assert find_unused_dates(task, used, "") == unused


@pytest.mark.parametrize(
    ("task", "used", "results"),
    [
        ("flights on 4 July 2013", "date='2013-07-04'", ""),
        ("flights on 4 July 2013", "date(2013, 7, 4)", ""),
        ("flights on 4 July 2013", "strptime('July 4, 2013')", ""),
        ("flights on 22 July 2013", "f'2013-07-{day:02d}'", ""),
        ("flights on Independence Day", "'2013-07-04'", ""),
        ("flights on the day after Christmas Day 2013", "'2013-12-26'", ""),
        ("storms until 31 December 2013", "year=2013", ""),
        ("before 4 July 2013", "to='2013-07-03'", ""),
        ("the storm of 29 August 2005", "find('Katrina')", "2005-08-29T06:00"),
        ("on 4 July 2013's anniversary", "'2014-07-04'", ""),
        ("on 31 February", "x", ""),
    ],
)
def test_a_date_in_another_form(task, used, results):
    assert find_unused_dates(task, used, results) == []


@pytest.mark.parametrize(
    ("task", "used", "unused"),
    [
        ("at 3 p.m.", "hour=14", ["3 p.m"]),
        ("at 3 p.m.", "hour=15", []),
        ("at 12 am", "hour=0", []),
        ("before 6 a.m.", "to_hour=5", []),
        ("at 3 pm", "r['time'] == '3 PM'", []),
        ("3 planes am I told", "x", []),
    ],
)
def test_a_time_of_the_day(task, used, unused):
    assert find_unused_times(task, used) == unused
