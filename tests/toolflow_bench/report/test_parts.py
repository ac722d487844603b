"""The Jinja templates of the report."""

from toolflow_bench.report.parts import abbreviated


def test_long_names_are_shortened():
    assert abbreviated("short") == "short"
    assert len(abbreviated("x" * 200)) < 200
