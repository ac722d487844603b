"""Files in the monty backend."""

import pytest

from protocols.files import file_of_bytes
from protocols.toolbox import Toolbox
from sandbox import monty
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.monty_files import LARGEST_BYTES
from tests.labs.tools import tool

pytestmark = pytest.mark.skipif(monty.unavailable() is not None, reason="monty is not installed")


@pytest.fixture(scope="module")
def run():
    with monty.MontySandbox() as sandbox:

        def execute(source, data=b"id\n1\n"):
            tools = Toolbox([tool("export", lambda _: file_of_bytes(data, "a.csv", "text/csv"))])
            return sandbox.run(source, tools, limits=Limits(), journal=Journal())

        yield execute


def test_a_file_in_a_list_is_handed_over(run):
    trace = run("print(export())\n[export()]")
    assert trace.stdout == "a.csv (text/csv, 5 bytes)\n"
    assert trace.value == ["a.csv (text/csv, 5 bytes)"]
    assert [file.name for file in trace.files] == ["a.csv"]


def test_a_large_file_names_other_sandboxes(run):
    trace = run("export().read_text()", b"x" * (LARGEST_BYTES + 1))
    assert "use the zygote or docker sandbox" in trace.failure.message


def test_private_parts_of_files_are_hidden(run):
    assert run("export()._reader").failure.type == "AttributeError"
    assert run("export().note_file(5)").failure.type == "AttributeError"
