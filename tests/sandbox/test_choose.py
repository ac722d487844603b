"""Which sandbox runs a program."""

from __future__ import annotations

import sys

import pytest

from benchmarks.sandbox.shop import run
from protocols.documentation import docs_page
from sandbox import choose
from sandbox.base import SandboxUnavailable
from sandbox.choose import NAMES, Availability, automatic, open_sandbox
from sandbox.zygote import unavailable


def only(monkeypatch, *available):
    monkeypatch.setattr(
        choose,
        "availability",
        lambda name: Availability(name, None if name in available else f"no {name} here"),
    )


def test_auto_is_never_unconfined(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert automatic() == ("zygote", "docker")  # monty has no layers of the system
    monkeypatch.setattr(sys, "platform", "darwin")
    assert automatic() == ("docker", "monty")
    only(monkeypatch, "unconfined")
    with pytest.raises(SandboxUnavailable) as caught:
        open_sandbox("auto")
    assert str(caught.value) == (
        "no sandbox can be had here (docker: no docker here; monty: no monty here); "
        f"{docs_page('guides/sandboxes#which-one-runs')} has what each needs"
    )


def test_auto_takes_the_best(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    only(monkeypatch, "zygote", "docker", "monty")
    with open_sandbox() as sandbox:
        assert sandbox.name == "zygote"


def test_policy_and_layers_go_to_the_sandbox():
    if reason := unavailable():
        pytest.skip(reason)
    with open_sandbox("zygote", policy=True, without=["landlock"]) as sandbox:
        trace = run(sandbox, "import socket")
        assert (trace.failure.kind, trace.calls, sandbox.name, sandbox.boundary) == (
            "policy",
            (),
            "zygote",
            True,
        )
        assert run(sandbox, "print(1)").stdout == "1\n"
        assert "source policy" in sandbox.layers
        assert not any("Landlock" in layer for layer in sandbox.layers)


def test_missing_layers_cannot_be_left_out():
    with pytest.raises(
        ValueError, match="the unconfined sandbox has no layers that could be left out"
    ):
        open_sandbox("unconfined", without=["landlock"])


def test_names():
    for text in ("zigote", "", "zygote,monty"):
        with pytest.raises(
            ValueError, match=r"no sandbox named .* there are auto and zygote, docker"
        ):
            open_sandbox(text)
    assert set(NAMES) == set(choose._CLASSES)
