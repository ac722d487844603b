"""Escaping of text for HTML pages."""

from atc.core.pages.markup import escape_text, span


def test_foreign_text_is_escaped():
    assert str(escape_text('<b>&"')) in ("&lt;b&gt;&amp;&quot;", "&lt;b&gt;&amp;&#34;")
    assert str(span("x<y", "kind")) == '<span class="kind">x&lt;y</span>'
    assert str(escape_text("a\u202eb")) == "a\\u202eb"
