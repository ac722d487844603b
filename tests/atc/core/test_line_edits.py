"""Replies that change single lines of the last program."""

import pytest

from atc.core.line_edits import apply_line_edits, line_edits, readable_lines
from atc.core.program import Program

PROGRAM = Program("rows = search()\nfor row in rows:\n    print(row['name'])\nprint(len(rows))\n")


@pytest.mark.parametrize(
    ("reply", "changed"),
    [
        ("line 3: print(row['label'])", {3: "    print(row['label'])"}),
        ("```\nLine 3:     print(row['label'])\n```", {3: "    print(row['label'])"}),
        ("line 1: `rows = search()['rows']`\n\nline 4: print(1)",
         {1: "rows = search()['rows']", 4: "print(1)"}),
        ("line 4:", {4: None}),
    ],
)  # fmt: skip
def test_named_lines_are_replaced(reply, changed):
    lines = dict(enumerate(PROGRAM.source.splitlines(), start=1)) | changed
    wanted = "".join(f"{line}\n" for line in lines.values() if line is not None)
    assert apply_line_edits(PROGRAM, line_edits(reply)).source == wanted


@pytest.mark.parametrize(
    "reply", ["line 9: x", "line 0: x", "", "print(1)", "Line 3 is wrong.\nline 3: print(row)"]
)
def test_other_replies_change_no_lines(reply):
    assert apply_line_edits(PROGRAM, line_edits(reply)) is None


def test_new_lines_can_be_searched_for_secrets():
    edits = {1: "for x in login(password='a'):", 2: "    token='b',", 3: "elif f(key='c'):", 4: ")"}
    source = readable_lines(edits).source
    for part in ("for x in login(password='a'): pass", "dict(token='b',)", "if f(key='c'): pass"):
        assert f"{part}\n" in source
