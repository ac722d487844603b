"""The coloured parts of a program."""

from hypothesis import given
from hypothesis import strategies as st

from atc.core.python_tokens import read_tokens


def test_tells_the_kind_of_each_part():
    kinds = {text: kind for kind, text in read_tokens("if x not in 'a':  # why\n    y = 2.5\n")}
    assert {text: kinds[text] for text in ("if", "not", "x", "'", "# why", "2.5")} == {
        "if": "keyword",
        "not": "keyword",
        "x": "",
        "'": "string",
        "# why": "comment",
        "2.5": "number",
    }


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r")))
def test_joined_parts_are_the_source(source):
    assert "".join(text for _, text in read_tokens(source)) == source
