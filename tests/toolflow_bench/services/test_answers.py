"""Handlers that an `openapi.yaml` defines in SQL, and checks that precede handlers in Python."""

from toolflow_bench.services.answers import page_of, sql_parameters


def test_handlers_have_named_parameters_and_pages():
    assert sql_parameters("SELECT * FROM t WHERE a = :a AND b = :b") == ["a", "b"]
    assert page_of("rows", [{"n": n} for n in range(5)], {"page": 2, "page_size": 2}) == {
        "rows": [{"n": 2}, {"n": 3}],
        "page": 2,
        "pages": 3,
        "total": 5,
    }
