"""The files of one execution: which the program may read, and where it may pass them."""

from dataclasses import replace

import pytest

from protocols.files import FileMissing, TemporaryFiles, file_of_bytes, files_in
from protocols.response import ToolResponse
from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.zygote import ZygoteSandbox
from tests.labs.tools import tool

BINARY = {"type": "string", "format": "binary"}


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as opened:
        yield opened


@pytest.fixture
def run(sandbox):
    def execute(source, *tools, journal=None, **limits):
        return sandbox.run(
            source, Toolbox(tools), limits=Limits(**limits), journal=journal or Journal()
        )

    return execute


def export(data=b"id\n1\n", name="a.csv"):
    return tool("export", lambda _: file_of_bytes(data, name, "text/csv"))


@pytest.mark.parametrize("number", ["7", "-1", "'0'", "True", "1.5"])
def test_a_forged_number_ends_the_run(run, number):
    trace = run(f"f = export()\nf._number = {number}\nprint(f.read_text())", export())
    assert trace.failure.type == "ProtocolViolation"
    assert trace.stdout == ""


@pytest.mark.parametrize(
    "frame",
    [
        '{"read": [0, 0]}',
        '{"read": [0, -1, 5]}',
        '{"read": [0, 0, 99999999999999999999]}',
        '{"read": {"0": 1}}',
        '{"done": null, "files": [3]}',
        '{"done": null, "files": "all"}',
        '{"call": 1, "tool": "upload", "args": {"file": null}, "line": 1, "files": [[["file"], 5]]}',
        '{"call": 1, "tool": "upload", "args": {}, "line": 1, "files": [[[], 0]]}',
    ],
)
def test_a_forged_frame_ends_the_run(run, frame):
    source = (
        f"import builtins\nf = export()\nf._reader._send({frame!r}.encode())\nf._reader.receive()"
    )
    upload = tool("upload", None, {"file": BINARY}, reads=False)
    trace = run(source, export(), upload)
    assert trace.failure.type == "ProtocolViolation", trace
    assert trace.files == ()


def test_a_run_cannot_read_the_files_of_another(run):
    journal = Journal()
    run("export()", export(b"secret of the first run"), journal=journal)
    other = run("f = export()\nf._number = 1\nprint(f.read_text())", export(b"own"))
    assert other.failure.type == "ProtocolViolation"


def test_a_file_goes_only_where_one_is_taken(run):
    sent = []
    upload = tool("upload", None, {"file": BINARY, "note": "string"}, sent=sent, optional=["note"])
    trace = run("upload(file='x', note=export())", export(), upload)
    assert trace.failure.message.startswith("tool 'upload': argument 'note' takes no file; pass")
    assert run("upload(file=export())", export(), upload).failure is None
    assert [arguments["file"].whole() for _, arguments in sent] == [b"id\n1\n"]


def test_what_looks_like_a_file_is_none(run):
    described = {"name": "a", "media_type": "text/csv", "size": 3, "sha256": "ab" * 32}
    trace = run("print(type(claim()).__name__)", tool("claim", described))
    assert (trace.stdout, trace.calls[0].files) == ("dict\n", ())
    passed = run(f"upload(file={described!r})", tool("upload", None, {"file": BINARY}))
    assert "argument 'file' must be a string" in passed.failure.message


def test_the_limits_of_a_run_are_named(run):
    many = tool("export", lambda given: file_of_bytes(b"%d" % given["n"], "a"), {"n": "integer"})
    trace = run("for n in range(9): export(n=n)", many, files=3)
    assert trace.failure.message == "files: the program got more than 3 files"
    assert [call.outcome for call in trace.calls] == ["done"] * 4
    large = run("export()", export(b"x" * 3_000_000), file_bytes=2 * 2**20)
    assert large.failure.message == "file_bytes: the files of the run have more than 2 MB"


def test_a_file_from_the_journal_has_its_bytes(run):
    calls = []
    journal = Journal()

    def answer(_):
        calls.append(1)
        return file_of_bytes(b"id\n7\n", "a.csv")

    for _ in range(2):
        trace = run("print(export().rows()[0]['id'])", tool("export", answer), journal=journal)
        assert trace.stdout == "7\n"
    assert (len(calls), trace.calls[0].reused) == (1, True)


def test_bytes_that_are_gone_are_said(run):
    class Empty(TemporaryFiles):
        def add(self, file):
            pass

    trace = run("export().read_text()", export(), journal=Journal(files=Empty()))
    assert trace.failure.type == "OSError"
    assert trace.failure.message.startswith("the bytes of 'a.csv' are not stored")


def test_a_missing_file_raises_on_the_host():
    file = file_of_bytes(b"x", "a")
    with pytest.raises(FileMissing):
        TemporaryFiles().content(file.info).read(0, 1)


def test_a_file_within_a_wrapped_response_is_found(run):
    answer = {"rows": [{"picture": file_of_bytes(b"x", "a.png")}]}
    output = {
        "type": "object",
        "properties": {"rows": {"type": "array"}},
        "required": ["rows"],
        "additionalProperties": False,
    }
    found = tool("find", None, output=output)
    found = replace(found, call=_Responding(ToolResponse(answer, files=files_in(answer))))
    assert found.wrapper == "rows"
    trace = run("print(find()[0]['picture'].read_text())", found)
    assert (trace.stdout, trace.calls[0].files) == ("x\n", (("rows", 0, "picture"),))


class _Responding:
    def __init__(self, response):
        self.response = response

    def respond(self, arguments, **_):
        return self.response
