"""HTML that is escaped by construction."""

from atc.core.pages.markup import Html, escape_text, span


def test_foreign_text_is_escaped():
    assert str(escape_text('<b>&"')) == "&lt;b&gt;&amp;&quot;"
    assert str(span("x<y", "kind")) == '<span class="kind">x&lt;y</span>'
    assert isinstance(escape_text("a"), Html)
    assert str(escape_text("a\u202eb")) == "a\\u202eb"
