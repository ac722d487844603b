"""A whole HTML page."""

from atc.core.pages.document import build_page
from atc.core.pages.markup import escape_text


def test_a_page_fetches_nothing_from_elsewhere():
    page = build_page(
        escape_text("<b>"),
        title="A & B",
        made_by="atc",
        package="toolflow_bench.report",
        skip="main",
    )
    assert "<title>A &amp; B" in page
    assert "&lt;b&gt;" in page
    assert "Content-Security-Policy" in page
