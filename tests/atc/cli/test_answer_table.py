"""Answers as CSV and as aligned columns."""

import csv
import io

import pytest

from atc.cli.answer_table import NoTable, format_csv, format_table, make_table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([{"a": 1, "b": "x"}, {"c": None, "a": -2.5}], "a,b,c\n1,x,\n-2.5,,\n"),
        ([["DL", 12], ["B6", 3, [True]]], "column_1,column_2,column_3\nDL,12,\nB6,3,[true]\n"),
        (["a", 1, None, True], 'value\na\n1\n""\ntrue\n'),
        ({"JFK": {"n": 1}, "LGA": {"n": 2, "t": "x"}}, "key,n,t\nJFK,1,\nLGA,2,x\n"),
        ({"JFK": 1, "LGA": None}, "key,value\nJFK,1\nLGA,\n"),
        ({"id": 1, "name": 'a "b"\nc'}, 'id,name\n1,"a ""b""\nc"\n'),
        ([], ""),
        ([{}], ""),
        ({}, ""),
    ],
)
def test_lists_and_objects_are_tables(value, text):
    assert format_csv(make_table(value)) == text


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("a,b", "text"),
        (6, "number"),
        (None, "null"),
        ([{"a": 1}, 2], "records and other values"),
    ],
)
def test_other_answers_are_no_tables(value, kind):
    with pytest.raises(NoTable, match=kind):
        make_table(value)


HOSTILE = ("=1+1", "+cmd|' /C calc'!A0", "-1-1", "@SUM(A1)", " =1", "＝1", "\t=1", "\r=1")


def test_no_text_of_csv_is_a_formula():
    rows = [{cell: cell} for cell in HOSTILE]
    for row in csv.reader(io.StringIO(format_csv(make_table(rows)))):
        assert all(cell[:1] in ("'", "") for cell in row), row
    plain = ["-5", "+49 30 1234", "a=b"]
    assert format_csv(make_table([*plain, -5])) == "value\n-5\n+49 30 1234\na=b\n-5\n"


def test_no_cell_controls_a_terminal():
    table = make_table([{"\x1b[2Ja": "\x1b]0;x\x07", "b": ["\u202e"]}])
    for text in (format_csv(table), format_table(table, width=None)):
        assert text.replace("\n", "").isprintable()


def test_columns_are_aligned_and_wrap():
    table = make_table([{"name": "日本", "n": 7}, {"name": "x" * 12, "n": 10}])
    lines = format_table(table, width=None).splitlines()
    assert lines[0] == "name            n"
    assert lines[2:] == ["日本            7", "xxxxxxxxxxxx   10"]
    narrow = format_table(table, width=10).splitlines()
    assert all(len(line) <= 10 for line in narrow)
    assert "".join(narrow).count("x") == 12
