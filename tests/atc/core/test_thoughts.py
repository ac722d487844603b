"""Removal of thoughts from replies; `tests/atc/run/test_reply_forms.py` has the forms."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from atc.core.thoughts import remove_thoughts

TEXTS = st.text(alphabet="abc \n`{}()'=", max_size=60)


@given(
    thoughts=TEXTS, program=st.sampled_from(["print(1)", 'print("</think>")', "x = 1\nprint(x)"])
)
def test_a_program_stays_whatever_was_thought(thoughts: str, program: str) -> None:
    fenced = f"```python\n{program}\n```"
    said = remove_thoughts(f"<think>{thoughts}</think>\n{fenced}")
    assert said.text.strip().endswith(fenced)
    assert not said.is_open


@given(thoughts=TEXTS)
def test_open_thoughts_say_nothing(thoughts: str) -> None:
    assert remove_thoughts(f"<think>\n{thoughts}") == ("", True)
