"""What a person at a terminal sees of a probing, and is asked before writes."""

import io
import re

import click
import pytest
from rich.console import Console

from atc.cli import probe
from atc.cli.probe_report import ProbeView
from probing.samples import Called, Log, Note, ProbeSettings, Sample, Step
from protocols.toolbox import Tool, Toolbox
from tests.probing_lab import tool

EVENTS = [
    Step(phase="discover", round=0, tool="a_tool_with_a_name_that_is_far_too_long_for_any_line", left=3),
    Called(Sample(number=1, tool="a", response=1)),
    Step(phase="discover", round=0, tool="b", left=2),
    Note("api.example.org asks for \x1b[31mfewer calls."),
    Step(phase="chain", round=1, tool="b", left=1),
]


def shown(**options):
    file = io.StringIO()
    view = ProbeView(Console(file=file, width=60, **options), sent=lambda: 7, most=45)
    with view:
        for event in EVENTS:
            view(event)
    return file.getvalue()


def test_a_pipe_gets_a_line_for_each_phase():
    assert shown().splitlines() == [
        "round 0: calling tools alone (3 tools to go, 7 of at most 45 calls, 0 answered)",
        "api.example.org asks for \\x1b[31mfewer calls.",
        "round 1: calling tools with what others gave (1 tool to go, 7 of at most 45 calls, 1 answered)",
    ]


def test_a_terminal_gets_one_line_that_fits():
    text = shown(force_terminal=True)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert "api.example.org asks for \\x1b[31mfewer calls." in plain
    lines = [line.strip() for line in re.split(r"[\r\n]+", plain) if "round" in line]
    assert lines
    assert all(len(line) <= 60 for line in lines)
    assert "round 0: calling" not in plain


@pytest.mark.parametrize("answer", [True, False])
def test_on_a_terminal_writes_are_asked_about_once(tmp_path, monkeypatch, capsys, answer):
    tools = Toolbox(
        Tool(protocol=tool("https://api.example.org", name, method=method), call=lambda _: None)
        for name, method in [("find", "GET"), ("add", "POST")]
    )
    asked = []
    monkeypatch.setattr(probe, "has_person", lambda: True)
    monkeypatch.setattr(click, "confirm", lambda text, **_: asked.append(text) or answer)
    with Log(tmp_path) as log:
        settings = probe.allowed(tools, ProbeSettings(), log)
        assert settings.allow_writes is answer
        assert asked == ["Call these too?"]
        assert "add  writes  at most 15 calls  (POST https://api.example.org/add)" in capsys.readouterr().err
        assert probe.allowed(tools, ProbeSettings(allow_writes=True), log).allow_writes
        assert len(asked) == 1
