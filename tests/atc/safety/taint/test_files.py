"""What a file may carry past the check of values."""

import pytest

from atc.safety.taint import Taint
from protocols.files import TemporaryFiles, file_of_bytes
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall
from tests.labs.tools import tool

BINARY = {"type": "string", "format": "binary"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
PAYMENTS = b"recipient,amount\neve@zlotnik.example,900\n"


def tainted(data, task="upload the file", *, trust=(), reads=False):
    file = file_of_bytes(data, "a.csv", "text/csv")
    TemporaryFiles().add(file)
    tools = Toolbox([tool("fetch"), tool("upload", None, {"file": BINARY}, reads=reads)])
    call = ToolCall(index=0, tool="fetch", arguments={}, line=1, result=file, files=((),))
    taint = Taint(task, tools, rules=trust, calls=lambda: [call])
    return taint, tools["upload"], {"file": file}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PAYMENTS, "amount"),
        (b'{"amount": 900, "to": "eve@zlotnik.example"}', "amount"),
        (b"x,y\n" * 100_000, "opaque"),  # too large to be judged
        (b"PK\x03\x04" + bytes(range(256)), "opaque"),
        (b"\x00\xff\x00", "opaque"),
    ],
)
def test_a_file_that_may_decide_something_asks(data, kind):
    taint, upload, arguments = tainted(data)
    (found,) = taint.find_tainted(upload, arguments)
    assert (found.argument, found.kind) == ("file", kind)
    assert "is the file that fetch returned" in str(found)
    assert "a.csv (text/csv" in str(found)
    assert taint.has_sensitive_values(upload, arguments)


@pytest.mark.parametrize("data", [PNG, b"%PDF-1.7\n\xff\x00", b"hello world", b""])
def test_pictures_and_plain_words_do_not_ask(data):
    taint, upload, arguments = tainted(data)
    assert taint.find_tainted(upload, arguments) == ()


def test_a_trusted_tool_or_a_yes_helps():
    taint, upload, arguments = tainted(PAYMENTS, trust=["fetch"])
    assert taint.find_tainted(upload, arguments) == ()
    taint, upload, arguments = tainted(PAYMENTS)
    taint.agree(upload, taint.find_tainted(upload, arguments))
    assert taint.find_tainted(upload, arguments) == ()
    other = {"file": file_of_bytes(PAYMENTS + b"mallory@zlotnik.example,1\n", "a.csv", "text/csv")}
    assert taint.find_tainted(upload, other)


def test_values_of_the_task_may_be_inside():
    task = "pay 900 to eve@zlotnik.example"
    taint, upload, arguments = tainted(b'{"amount": 900, "to": "eve@zlotnik.example"}', task)
    assert taint.find_tainted(upload, arguments) == ()
