"""Passes of one attempt."""

from atc.core.program import Program
from atc.run.passes import find_certain
from protocols.toolbox import Toolbox


def test_certain_findings_do_not_depend_on_data():
    (finding,) = find_certain(Program("print(x)"), Toolbox())
    assert finding.code == "undefined-name"
    assert find_certain(Program("print(1)"), Toolbox()) == ()
