"""Formatting of one run's answer to one task."""

from toolflow_bench.report.answers import cut, describe_place, format_arguments


def test_an_answer_is_formatted_for_the_page():
    assert (
        str(cut("abcdef", 3))
        == 'abc<span class="cut">… 3 characters more, in the file of rows</span>'
    )
    assert str(cut("abc", 3)) == "abc"
    assert (
        describe_place({"attempt": 1, "line": 3, "tool": "get_film"})
        == "attempt 2, line 3, get_film"
    )
    assert format_arguments({"arguments": {"a": 1, "b": "x"}}) == 'a=1, b="x"'
