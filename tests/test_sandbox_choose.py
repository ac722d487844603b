"""Which sandbox runs a program."""

from __future__ import annotations

import sys

import pytest

from protocols.toolbox import Toolbox
from sandbox import choose
from sandbox.choose import NAMES, Availability, InOrder, automatic, named, open_sandbox
from sandbox.conformance import run, shop
from sandbox.errors import SandboxUnavailable, Unsupported
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.policy import Policed
from sandbox.trace import Pins, Trace
from sandbox.zygote import unavailable

needs_zygote = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))


class Fake:
    """A sandbox that runs nothing."""

    boundary = True

    def __init__(self, name: str, *, rejects: bool = False) -> None:
        self.name, self.layers, self.rejects = name, (name, "shared"), rejects
        self.asked: list[str] = []

    def run(self, source: str, tools: Toolbox, *, limits, journal) -> Trace:
        self.asked.append(source)
        if self.rejects:
            raise Unsupported("no classes here")
        return Trace(backend=self.name)

    def warm(self) -> None:
        self.asked.append("warm")

    def close(self) -> None:
        self.asked.append("close")


def only(monkeypatch, *available):
    monkeypatch.setattr(
        choose, "availability", lambda name: Availability(name, None if name in available else f"no {name} here")
    )


def test_a_program_that_one_rejects_goes_to_the_next():
    first, second, third = Fake("a", rejects=True), Fake("b"), Fake("c")
    order = InOrder([first, second, third])
    trace = run(order, "class A: pass")
    assert (order.name, trace.backend) == ("a", "b")
    assert (first.asked, second.asked, third.asked) == (["class A: pass"], ["class A: pass"], [])
    assert (order.layers, order.boundary) == (("a", "shared"), True)
    order.warm()
    order.close()
    assert (first.asked[1:], second.asked[1:], third.asked) == (["warm", "close"], ["close"], ["close"])


def test_what_the_last_one_rejects_is_rejected():
    with pytest.raises(SandboxUnavailable, match=r"\(a: no classes here; b: no classes here\)"):
        run(InOrder([Fake("a", rejects=True), Fake("b", rejects=True)]), "1")


def test_auto_is_never_trusted(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    assert automatic() == ("zygote", "docker")  # monty has no layers of the system
    monkeypatch.setattr(sys, "platform", "darwin")
    assert automatic() == ("docker", "monty")
    only(monkeypatch, "trusted")
    with pytest.raises(SandboxUnavailable) as caught:
        open_sandbox("auto")
    assert str(caught.value) == (
        "no sandbox can be had here (docker: no docker here; monty: no monty here); "
        "docs/guides/sandboxes.md#which-one-runs has what each needs"
    )


@needs_zygote
def test_auto_takes_the_best(monkeypatch):
    only(monkeypatch, "zygote", "monty")
    with open_sandbox() as sandbox:
        assert (sandbox.name, run(sandbox, "class A: pass").backend) == ("zygote", "zygote")


@needs_zygote
def test_policy_and_layers_go_to_the_sandbox():
    sandbox = open_sandbox("zygote", policy=True, without=["landlock"])
    try:
        trace = sandbox.run("import socket", shop(), limits=Limits(), journal=Journal())
        assert (trace.failure.kind, sandbox.name) == ("policy", "zygote")
        assert "source policy" in sandbox.layers
        assert not any("Landlock" in layer for layer in sandbox.layers)
    finally:
        sandbox.close()


def test_layers_that_are_not_there_cannot_be_left_out():
    with pytest.raises(ValueError, match="the trusted sandbox has no layers that could be left out"):
        open_sandbox("trusted", without=["landlock"])


def test_names():
    assert named(" zygote, monty ") == ("zygote", "monty")
    for text in ("zigote", "", "zygote,,monty", "auto,monty"):
        with pytest.raises(ValueError, match=r"no sandbox named .* there are auto and zygote, docker"):
            named(text)
    with pytest.raises(ValueError, match="no sandbox named 'bwrap'"):
        open_sandbox("bwrap")
    assert set(NAMES) == set(choose._CLASSES)


# The source policy in front of a sandbox.


def test_the_policy_changes_nothing_for_an_ordinary_program():
    inner = Fake("inner")
    with Policed(inner) as sandbox:
        sandbox.warm()
        assert run(sandbox, "print(1)") == Trace(backend="inner")
        assert (sandbox.name, sandbox.boundary, sandbox.layers[-1]) == ("inner", True, "source policy")
    assert inner.asked == ["warm", "print(1)", "close"]


def test_the_policy_lets_nothing_run_of_a_program_that_it_refuses():
    inner, pins = Fake("inner"), Pins(seed=5)
    trace = run(Policed(inner), "get_item(id=1)\nimport os\n" + "open('x')\n" * 4, journal=Journal(pins=pins))
    assert (inner.asked, trace.calls, trace.stdout, trace.pins, trace.backend) == ([], (), "", pins, "inner")
    assert (trace.failure.kind, trace.failure.type, trace.failure.line) == ("policy", "Refused", 2)
    assert trace.failure.message.startswith("line 2: the module 'os' is not available in a program\n    import os\n")
    assert trace.failure.message.count("open() is not available: a program has no files\n") == 2
    assert trace.failure.message.endswith("\nand 2 more")
