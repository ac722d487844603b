"""What the check knows of files."""

import pytest

from atc.core.program import Program
from atc.pipeline.check import check
from protocols.toolbox import Toolbox
from tests.labs.tools import tool

BINARY = {"type": "string", "format": "binary"}
TOOLS = Toolbox(
    [
        tool("export", None, {}, output=BINARY),
        tool("upload", None, {"file": BINARY}, reads=False),
    ]
)


def findings(source):
    return [found.message for found in check(Program(source), TOOLS)]


@pytest.mark.parametrize(
    "use",
    [
        "f.name.upper(), f.size + 1, f.media_type, f.sha256",
        "len(f.lines()), f.lines()[0].strip()",
        "sum(float(row['price']) for row in f.rows())",
        "f.json()['rows'], f.read_bytes()[:4], f'{f}', [f]",
        "upload(file=f), upload(file='text')",
    ],
)
def test_what_files_can_do_has_no_finding(use):
    assert findings(f"f = export()\nprint({use})") == []


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("f.read()", "Write f.read_text()."),
        ("f.content", "Write f.read_bytes()."),
        ("f['id']", "f is a File (the response of export), and no value."),
        ("[row for row in f]", "f is a File (the response of export), and no value."),
        ("f.size.upper()", "has no attribute 'upper'"),
    ],
)
def test_what_files_cannot_do_is_said(use, said):
    (message,) = findings(f"f = export()\nprint({use})")
    assert said in message
