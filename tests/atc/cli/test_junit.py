"""`atc runs test --junit`: a report that CI systems read, whatever a recording contains."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from atc.cli.junit import junit_xml

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


def test_each_state_has_its_element():
    passed = {"file": "runs/a.json", "state": "passed", "problem": None, "seconds": 0.25}
    failed = {"file": "runs/b.json", "state": "failed", "problem": "5 < 6 & more", "seconds": 1}
    broken = {"file": "/c.json", "state": "error", "problem": "it is not JSON"}
    text = junit_xml([passed, failed, broken], began=0, seconds=1.5)
    root = ET.fromstring(text)
    (suite,) = root
    for element in (root, suite):
        counts = [element.get(name) for name in ("tests", "failures", "errors", "time")]
        assert counts == ["3", "1", "1", "1.500"]
    assert suite.get("timestamp") == "1970-01-01T00:00:00"
    cases = [(case.get("classname"), case.get("name"), case.get("time")) for case in suite]
    assert cases == [
        ("runs", "a.json", "0.250"),
        ("runs", "b.json", "1.000"),
        ("atc runs test", "c.json", "0.000"),
    ]
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["error"]]
    assert suite[1][0].get("message") == suite[1][0].text == "5 < 6 & more"


def test_illegal_characters_are_escaped():
    hostile = "\x00\x1b[2J\ud800\ufffe\u202e]]><x>&\n"
    failed = {"file": f"{hostile}.json", "state": "failed", "problem": hostile, "seconds": 0}
    text = junit_xml([failed], began=0, seconds=0)
    ET.fromstring(text.encode())
    assert not any(character in text for character in "\x00\x1b\u202e\ufffe")


def test_the_report_is_written_with_the_results(atc_):
    Path("runs").mkdir()
    Path("runs/cut.json").write_text("{")
    code, out, _ = atc_("runs", "test", "runs", "--junit", "out/report.xml", "--json")
    assert (code, json.loads(out)[0]["state"]) == (1, "error")
    (suite,) = ET.parse("out/report.xml").getroot()
    assert suite[0][0].text == json.loads(out)[0]["problem"]
    assert atc_("runs", "test", "runs", "--junit", "out/report.xml")[0] == 1  # it is replaced
    code, _, err = atc_("runs", "test", "runs", "--junit", "runs")
    assert (code, err.count("\n"), "'runs' is a folder" in err) == (2, 1, True), err
