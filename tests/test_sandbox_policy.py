"""The source policy: what only attacks need is refused with a way out, and ordinary programs are let through."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import types
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocols.toolbox import Toolbox
from sandbox.conformance import make_tool, shop
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.policy import Policed, Violation, modules, render, review
from sandbox.trace import Pins, Trace

ROOT = Path(__file__).resolve().parent.parent
PARTS = re.split(r"^#### (\w+)\n", (ROOT / "tests/policy_programs/ordinary.txt").read_text("utf-8"), flags=re.MULTILINE)
ORDINARY = dict(zip(PARTS[1::2], PARTS[2::2], strict=True))
SAMPLES = sorted((ROOT / "tests" / "programs").glob("*.py"))
SNIPPETS = sorted((ROOT.parent / "shared" / "snippets").glob("*.py"))
HOSTILE = sorted((ROOT.parent / "shared" / "redteam").glob("*.py"))

HARMLESS_IN_TEXT = {"cpu", "memory", "output", "recursion", "rpc-abuse", "signals", "import"}
"""Categories in which some programs do nothing that an ordinary program does not: limits are for those."""


def messages(source):
    return [violation.message for violation in review(source)]


def only(source):
    (violation,) = review(source)
    return violation


def test_there_are_forty_ordinary_programs():
    assert len(ORDINARY) == 40


@pytest.mark.parametrize("name", ORDINARY)
def test_an_ordinary_program_is_let_through(name):
    assert [render(violation, ORDINARY[name]) for violation in review(ORDINARY[name])] == []


@pytest.mark.parametrize("path", [*SAMPLES, *SNIPPETS], ids=lambda path: path.stem)
def test_a_sample_program_is_let_through(path):
    assert review(path.read_text("utf-8")) == ()


@pytest.mark.skipif(not HOSTILE, reason="../shared/redteam is not here")
def test_hostile_programs_are_refused_wherever_the_text_shows_them():
    seen, refused = Counter(), Counter()
    for path in HOSTILE:
        source = path.read_text("utf-8")
        category = re.search("category: (.*)", source)[1]
        seen[category] += 1
        refused[category] += bool(review(source))
    assert {category for category in seen if refused[category] < seen[category]} <= HARMLESS_IN_TEXT
    assert refused.total() >= 53


@pytest.mark.parametrize(
    "source",
    [
        "().__class__.__base__.__subclasses__()",
        "x = ''.__class__",
        "print.__self__",
        "(lambda: 0).__globals__",
        "f'{f.__code__}'",
        "(x for x in ()).gi_frame",
        "async def c(): pass\nc().cr_frame",
        "try:\n    1/0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_back.f_globals",
        "getattr(x, '__globals__')",
        "getattr(x, '__glo' + 'bals__')",
        "setattr(x, '__class__', y)",
        "hasattr(x, 'gi_frame')",
        "delattr(x, '__code__')",
        "n = '__subclasses__'",
        "n = '__sub' + 'classes__'",
        "n = '＿＿class＿＿'",
        "x.__ｇlobals__",
        "d['__builtins__']",
        "f('a.b.__globals__')",
        "'{0.' + '__globals__}'",
        "'{0.__class__.__init__.__globals__}'.format(x)",
        "fmt = str.format\nfmt('{0.__globals__[KEY]}', f)",
        "'{:{0.__globals__}}'.format(x, y)",
        "'{0.a.gi_frame}'.format(x)",
        "import operator\noperator.attrgetter('__class__')(x)",
        "from operator import attrgetter as g\ng('a.__globals__')",
        "import operator\noperator.attrgetter('a.__globals__')(x)",
        "import operator\noperator.methodcaller('__subclasses__')(x)",
        "object.__getattribute__(x, '__class__')",
        "type.__getattribute__(T, '__base__')",
        "import string\nstring.Formatter().get_field('0.x', (), {})",
        "from string import Formatter",
        "match x:\n    case object(__globals__=g): pass",
        "match x:\n    case object(__class__=c): pass",
        "eval('1')",
        "list(map(eval, ['1']))",
        "@exec\ndef f(): pass",
        "compile('1', '', 'eval')",
        "globals()['x']",
        "locals()",
        "vars()",
        "open('x')",
        "def f(open=open): return open('x')",
        "def f(open): pass\nopen('x')",
        "class C:\n    open = 1\n    def f(self): return open('x')",
        "[open for open in 'a']\nopen('x')",
        "breakpoint()",
        "input('name? ')",
        "__import__('os')",
        "__builtins__.open",
        "__loader__",
        "__spec__",
        "__builtins__ = {}",
        "import os",
        "import os.path as p",
        "from os import path",
        "from os import *",
        "from math import *",
        "from . import x",
        "import json, socket",
        "def f():\n    import subprocess",
        "import json\njson.codecs.open('x')",
        "import json as j\nj.codecs",
        "from json import codecs",
        "import re\nre.enum.sys.modules",
        "import collections\ncollections._sys",
        "import collections.abc\ncollections.abc.sys",
        "import random\nrandom._os",
        "from random import _os",
        "import statistics\nstatistics.sys",
        "from statistics import sys",
        "import asyncio\nasyncio.events.sys",
        "import asyncio\nasyncio.create_subprocess_shell('x')",
        "from asyncio import subprocess",
        "import enum\nenum.bltns.open",
        "import sys\nsys.modules['os']",
        "import sys\nsys._getframe()",
        "from sys import modules",
        "import io\nio.open('x')",
        "import inspect\ninspect.currentframe()",
        "import threading\nthreading.Thread(target=f).start()",
        "import pathlib\npathlib.Path('x').read_text()",
        "import codecs\ncodecs.open('x')",
        "import ast\nast.sys",
        "import types\ntypes.CodeType",
        "import json\njson.loads = None",
        "import json\ndel json.loads",
        "import json\nsetattr(json, 'loads', None)",
        "import json\ngetattr(json, 'codecs')",
        "import json\njson.__dict__['codecs']",
        "import json\njson.loads.__globals__",
        "from concurrent.futures import process",
        "import urllib\nurllib.request.urlopen('x')",
        "from urllib import request",
    ],
)
def test_an_attack_is_refused(source):
    assert review(source) != ()


@pytest.mark.parametrize(
    "source",
    [
        "e = 1\nprint(e.__class__.__name__, type(e).__name__)",
        "print(x.__class__ == y.__class__, isinstance(x, y.__class__))",
        "def f(self): return self.__class__",
        "'{0.__class__.__name__} {a[b]} {0.real:>{w}}'.format(1, a={}, w=3)",
        "import operator\noperator.attrgetter('name', 'a.b')(x)",
        "hasattr(x, '__iter__') and getattr(x, '__name__', None)",
        "object.__setattr__(self, 'x', 1)",
        "for open, close in rows: print(open)",
        "open: float = 1.0\nprint(open)",
        "def f(input, *, vars=(), **compile): return input, vars, compile",
        "lambda open: open + 1",
        "print([open for open in rows])",
        "if (input := 3): print(input)",
        "match x:\n    case {'open': open, **vars}: print(open, vars)",
        "try: pass\nexcept Exception as eval: print(eval)",
        "def f():\n    global open\n    open = 1\ndef g(): return open",
        "class C:\n    open = 1\n    print(open)",
        "f(open=1, eval=2); x.open; x.eval(); {'open': 1}",
        "class C:\n    __table__ = 'x'\n    def f(self): return self.__table__",
        "import xml.etree.ElementTree as ET\nET.fromstring('<a/>')",
        "import urllib.parse\nurllib.parse.quote('a')",
        "from collections import abc\nabc.Mapping",
        "from datetime import time, datetime\nimport datetime as dt\ndt.datetime.now().time()",
        "import datetime, time\ndatetime.time(1); time.time()",
        "import asyncio\nasyncio.exceptions.TimeoutError",
        "import json\njson.decoder.JSONDecodeError\njson.__version__",
        "import sys\nsys.exit(0)",
        "import random\nrandom.seed(1)",
        "from __future__ import annotations",
        "json = {'codecs': 1}\njson.codecs",
        "import typing as t\nx: t.Optional[t.List[int]] = None",
        "await get_item(id=1)",
        "text = 'use { braces } and a.b_c'",
        "s = '__main__'; k = {'__type__': 1, '__class__': 2}",
    ],
)
def test_what_only_looks_like_one_is_let_through(source):
    assert messages(source) == []


@pytest.mark.parametrize(
    ("source", "suggestion"),
    [
        ("import requests", "call the declared tools instead"),
        ("from urllib.request import urlopen", "call the declared tools instead"),
        ("import numpy as np", "use statistics, math, lists and dicts instead"),
        ("import pandas as pd", "use lists of dicts, csv and statistics instead"),
        ("import subprocess", "use asyncio.gather with asyncio.to_thread instead"),
        ("import pickle", "use json instead"),
        ("from dateutil.parser import parse", "use datetime and zoneinfo instead"),
        (
            "from tools import get_item",
            "call the tools by their names: they are defined already; drop the import instead",
        ),
        ("import statistic", "use statistics instead"),
        ("import no_such_thing", "use the standard library, or call the declared tools instead"),
        ("from os import path", "get data from the declared tools, and print results"),
        ("import os.path", "use string methods such as rpartition('/') instead"),
        ("import statistics\nstatistics.math", "import math by itself instead"),
        ("import sys\nsys.stdin.read()", "use a value from the task, or from a tool instead"),
        ("from pathlib import Path", "use pathlib.PurePath, which needs no files, instead"),
        ("from math import *", "import the names that you use instead"),
        ("eval('[1]')", "use ast.literal_eval for data, int or float for numbers instead"),
        ("open('x')", "print what you found, or use io.StringIO for text in memory instead"),
        ("c = x.__class__", "use type(x) instead"),
        ("t.tb_frame", "use traceback.format_exc() instead"),
        ("import json\njson.x = 1", "use a name of your own instead"),
    ],
)
def test_a_refusal_says_what_to_do_instead(source, suggestion):
    assert only(source).suggestion.startswith(suggestion)


def test_every_refused_builtin_has_a_suggestion():
    from sandbox.policy.names import BUILTINS

    for name, (why, suggestion) in BUILTINS.items():
        assert only(f"{name}(x)") == Violation(1, 1, f"{name}() {why}", suggestion)
        assert suggestion


def test_it_is_shown_with_its_place():
    source = "rows = []\nif rows:\n    é = rows; data = json_of(open('f'))\n"
    violation = only(source)
    assert (violation.line, violation.column) == (3, 30)
    assert render(violation, source) == (
        "line 3: open() is not available: a program has no files\n"
        "    é = rows; data = json_of(open('f'))\n"
        "                             ^\n"
        "print what you found, or use io.StringIO for text in memory instead"
    )


def test_the_caret_stands_below_the_attribute_also_behind_wide_characters():
    source = "x = '株式' + y.__code__"
    assert render(only(source), source).splitlines()[1:] == [f"    {source}", "    " + " " * 15 + "^"]


def test_a_long_line_is_shown_around_the_place_and_control_characters_are_not_shown():
    source = "x = '" + "a" * 500 + "\x1b[2J'; open('f')"
    shown = render(only(source), source)
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) < 140
    line, caret = shown.splitlines()[1:3]
    assert line[caret.index("^") :].startswith("open(")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_those_that_python_counts(end):
    source = end.join(("x = 1", "y = '''", "'''", "open('f')"))
    assert only(source).line == 4
    assert "    open('f')" in render(only(source), source)


def test_violations_come_in_order_and_each_once():
    found = review("import os, socket\nx = eval('1')\nimport os\n")
    assert [(violation.line, violation.column) for violation in found] == [(1, 8), (1, 12), (2, 5), (3, 8)]


@pytest.mark.parametrize(
    "source",
    [
        "x = = 2",
        "\0",
        "\ud800",
        "(" * 10_000,
        "def f(:",
        "x" + "+1" * 100_000,
        "'\\N{no such name}'",
        "\ufeffx = 1",
        "",
    ],
)
def test_what_is_no_python_is_not_its_affair(source):
    assert review(source) == ()


def test_no_program_is_too_deep_for_it():
    source = "if a:\n    pass\n" + "elif a:\n    pass\n" * 500 + "else:\n    open('x')\n"
    assert [violation.line for violation in review(source)] == [1004]


def test_parsing_is_tried_again_where_the_interpreter_fails(monkeypatch):
    failures = [SystemError("AST constructor recursion depth mismatch")] * 3

    def fails_at_first(*args, **options):
        if failures:
            raise failures.pop()
        return compile(*args, **options)

    monkeypatch.setattr("protocols.parsing.compile", fails_at_first, raising=False)
    assert [violation.line for violation in review.__wrapped__("x = 1\nopen('f')")] == [2]
    assert failures == []


def test_it_says_nothing_on_the_error_stream(recwarn):
    assert review("x = '\\d'\nif x is 'a': pass\n") == ()
    assert not recwarn.list


PIECES = (  # noqa: SIM905
    "open ( ) [ ] { } : . , = := ' \" \n \t x __class__ __globals__ lambda def class import from as match case * ** @ "
    "f'{ } async await yield 1 gi_frame getattr if else for in try except* del global json os ; \\ é \0"
).split(" ")
pieces = st.sampled_from(PIECES)


@given(st.lists(pieces, max_size=30).map(" ".join) | st.text())
def test_it_never_raises_and_always_finds_the_same(source):
    found = review.__wrapped__(source)
    assert found == review.__wrapped__(source)
    for violation in found:
        assert violation.message in render(violation, source)


NAMED_LIKE_MODULES = {("queue", "time"), ("typing", "io"), ("typing", "re")}
"""Refused without need, and missed by nobody."""


@pytest.mark.parametrize("path", sorted(modules.ALLOWED))
def test_of_an_allowed_module_all_may_be_used_but_other_modules(path):
    module = importlib.import_module(path)
    for name, value in vars(module).items():
        refused = modules.member_problem(path, name) is not None
        if isinstance(value, types.ModuleType) and f"{path}.{name}" not in modules.ALLOWED:
            own = value.__name__.startswith(path.split(".")[0] + ".")  # its own parts lead nowhere by themselves
            assert refused or own, name
        elif not name.startswith("_") and (path, name) not in NAMED_LIKE_MODULES:
            expected = path in modules.ONLY and name not in modules.ONLY[path]
            assert refused == (expected or name in modules.WITHOUT.get(path, ())), name


def test_importing_the_policy_is_cheap():
    code = "import sys, sandbox.policy; sys.exit('RestrictedPython' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


class Inner:
    """A sandbox that keeps what it was asked to run."""

    name, layers, boundary = "inner", ("a layer",), True

    def __init__(self):
        self.ran, self.did = [], []

    def run(self, source, tools, *, limits, journal):
        self.ran.append((source, tools, limits, journal))
        return Trace(backend=self.name)

    def warm(self):
        self.did.append("warm")

    def close(self):
        self.did.append("close")


def test_in_front_of_a_sandbox_it_changes_nothing_for_an_ordinary_program():
    inner = Inner()
    tools, limits, journal = shop(), Limits(), Journal()
    with Policed(inner) as sandbox:
        sandbox.warm()
        assert sandbox.run("print(1)", tools, limits=limits, journal=journal) == Trace(backend="inner")
        assert (sandbox.name, sandbox.boundary, sandbox.layers) == ("inner", True, ("a layer", "source policy"))
    assert inner.ran == [("print(1)", tools, limits, journal)]
    assert inner.did == ["warm", "close"]


def test_in_front_of_a_sandbox_it_lets_nothing_run_of_a_program_that_it_refuses():
    inner, made, pins = Inner(), [], Pins(seed=5)
    tools = Toolbox([make_tool("f", {}, lambda: made.append(1))])
    trace = Policed(inner).run("f()\nimport os\nopen('x')", tools, limits=Limits(), journal=Journal(pins=pins))
    assert (inner.ran, made, trace.calls, trace.stdout, trace.pins, trace.backend) == ([], [], (), "", pins, "inner")
    assert (trace.failure.kind, trace.failure.type, trace.failure.line) == ("policy", "Refused", 2)
    assert trace.failure.message.startswith("line 2: the module 'os' is not available in a program\n    import os\n")
    assert "\nline 3: open() is not available: a program has no files\n" in trace.failure.message


def test_three_violations_are_told_and_the_others_counted():
    trace = Policed(Inner()).run("open(1)\n" * 5, shop(), limits=Limits(), journal=Journal())
    assert trace.failure.message.count("open() is not available") == 3
    assert trace.failure.message.endswith("\nand 2 more")


def test_a_refused_execution_counts_as_one_for_the_journal():
    heard = []
    journal = Journal(sink=lambda execution, call, complete: heard.append(execution))
    tools = Toolbox([make_tool("f", {}, lambda: 1)])
    Policed(Inner()).run("import os", tools, limits=Limits(), journal=journal)
    journal.open()
    from sandbox.trace import ToolCall

    call = ToolCall(index=0, tool="f", arguments={}, line=1)
    assert journal.before(call, writes=False, defaults={}) is None
    journal.intend(call)
    assert heard == [1]
