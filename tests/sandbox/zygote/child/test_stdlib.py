"""The standard library of programs."""

from __future__ import annotations

import textwrap

import pytest

from benchmarks.sandbox.shop import run
from sandbox.zygote import unavailable

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


def test_modules_import_what_they_use(sandbox):
    source = """
        from email.message import EmailMessage
        from xml.dom.minidom import parseString
        from xml.sax.saxutils import escape
        message = EmailMessage()
        message.set_content(escape("a & b"))
        print(message.as_string().splitlines()[-1], parseString("<r>é</r>").toxml()[-8:])
    """
    assert run(sandbox, textwrap.dedent(source)).stdout == "a &amp; b <r>é</r>\n"
