"""The conversation of a trained planner: what is written is read back, and departures from the form are seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.toolqp.reward import ends, plan_text, read_plan, read_query

plain = (
    st.text(st.characters(categories=("L", "N", "P", "Zs"), exclude_characters="<>"), min_size=1)
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)


@given(plain, st.lists(plain, min_size=1))
def test_a_plan_is_read_as_it_was_written(breakdown, goals):
    assert read_plan(plan_text(breakdown, goals)) == (breakdown, True)


@pytest.mark.parametrize(
    ("text", "breakdown"),
    [
        ("", ""),
        ("I would search for books.", ""),
        ("<task_breakdown>Books.</task_breakdown>", "Books."),
        ("<task_breakdown>Books.</task_breakdown>\n<sub_goals>\n[]\n</sub_goals>", "Books."),
        ("<task_breakdown>Books.</task_breakdown><sub_goals>List them</sub_goals>", "Books."),
        ("<task_breakdown>Books.</task_breakdown><sub_goals>[1]</sub_goals>", "Books."),
        ('<task_breakdown>Books.\n<sub_goals>["List."]', "Books."),
        ("Sure!\n" + plan_text("Books.", ["List."]), "Books."),
        (plan_text("Books.", ["List."]) + "\n<query>books</query>", "Books."),
    ],
)
def test_what_can_be_read_of_a_plan_out_of_form_is_read(text, breakdown):
    assert read_plan(text) == (breakdown, False)


@pytest.mark.parametrize(
    ("text", "query", "well_formed", "end"),
    [
        ("<query>list books</query>", "list books", True, False),
        ('<query>mail\n{"description": "Sends mail"}</query>', 'mail\n{"description": "Sends mail"}', True, False),
        ("list books", "list books", False, False),
        ("Next: <query>list books</query>", "list books", False, False),
        ("<query>list books</query> <stop_retrieval>", "list books", False, False),
        ("<stop_retrieval>", "", True, True),
        ("All is found. <stop_retrieval>", "", False, True),
    ],
)
def test_a_turn_searches_or_ends(text, query, well_formed, end):
    assert (*read_query(text), ends(text)) == (query, well_formed, end)
