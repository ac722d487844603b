"""A solution as HTML in a notebook."""

import re
from html.parser import HTMLParser

from atc.core.solution_block import ShownRun, lines_block, solution_block

HOSTILE = "</pre><script src='https://x.example/a.js'>\x1b[2J\u202e</script>"


class Elements(HTMLParser):
    """The names of all elements and attributes of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names |= {tag, *(name for name, _ in attrs)}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_hostile_text_makes_no_element():
    run = ShownRun(
        facts=HOSTILE,
        program=f"print('''{HOSTILE}''')  # {HOSTILE}",
        calls=[HOSTILE] * 60,
        remarks=[("doubt", HOSTILE)],
    )
    block = solution_block(HOSTILE, HOSTILE, run) + lines_block([HOSTILE], is_open=True, title="x")
    elements = Elements(block)
    assert elements.open == []
    assert elements.names == {"div", "b", "span", "pre", "details", "summary", "style", "open"}
    assert "\x1b" not in block
    assert "\u202e" not in block
    assert "… 10 more calls" in block
    assert not re.search(r"url\(|@import|background:(?!transparent)", block)


def test_a_block_has_only_what_there_is():
    assert "<pre" not in solution_block("failed", None, ShownRun())
    block = solution_block("solved", "7", ShownRun(program="for x in 'ab': print(7)  # all\n"))
    for kind, text in (("keyword", "for"), ("number", "7"), ("comment", "# all")):
        assert re.search(
            rf"<span style=\"color:var\(--jp-mirror-editor-{kind}[^>]*>{text}</span>", block
        )
