"""What lives in the host process beside a hostile program: tools, a probe, and another program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from protocols.toolbox import Tool, Toolbox
from sandbox.conformance import make_tool, shop
from sandbox.trace import Trace

HOLD_SECONDS = 300.0

# Whatever a run could leave changed for the next one; each line must be the same before and after.
PROBE = """
import builtins, json, math, os, random, re, sys, time
print(json.dumps({"a": [1, None]}), json.loads("[1, 2]"), round(math.pi, 9), round(math.sqrt(2), 9))
print(random.random(), random.Random(1).random(), re.findall("a+", "caat"), time.gmtime(0)[:6], len("é".encode()))
print(len(dir(builtins)), sorted(name for name in globals() if not name.startswith("_")))
print(sorted({"a", "b", "c"}), repr(open) if "open" in dir(builtins) else "", callable(print), sorted([2, 1]))
print([(name, len(value)) for name, value in sorted(os.environ.items())], sys.argv, sys.path)
print(sys.getrecursionlimit(), len(sys.modules))
for folder in ("/tmp", "/dev/shm", "."):
    try:
        print(folder, sorted(os.listdir(folder)))
    except OSError as error:
        print(folder, error.errno)
print(get_item(id=3), [row["id"] for row in list_items(page=1)], echo(text="e"))
try:
    get_item(id=-1)
except ToolError as error:
    print(error.status, error.body)
"""
SIMPLE_PROBE = """
import json, math
print(json.loads("[1, 2]"), round(math.pi, 9), sorted([2, 1]), [x for x in range(3)])
print(get_item(id=3), [row["id"] for row in list_items(page=1)], echo(text="e"))
try:
    get_item(id=-1)
except ToolError as error:
    print("failed as it should")
"""
"""For sandboxes that run a part of Python."""
FAILING = "def f():\n    return get_item(id=-1)\nprint('before')\nf()"
SIBLING = "print(hold())"


class ToolHost:
    """The tools, declared ones and one that is not, and a record of what reached them."""

    def __init__(self, admin_secret: str) -> None:
        self._shop = shop()
        self._admin_secret = admin_secret
        self.made = 0
        """Calls that reached a declared tool."""
        self.wiped = 0
        """Calls that reached the other one."""
        self.odd: list[str] = []
        """Arguments that are no plain JSON values."""

    def t_get_item(self, arguments: Any) -> Any:
        """Declared."""
        return self._make("get_item", arguments)

    def t_list_items(self, arguments: Any) -> Any:
        """Declared."""
        return self._make("list_items", arguments)

    def t_echo(self, arguments: Any) -> Any:
        """Declared."""
        return self._make("echo", arguments)

    def t_admin_wipe(self, arguments: Any = None) -> str:  # noqa: ARG002 - whatever it is called with
        """Not declared: nothing within a program's reach leads here."""
        self.wiped += 1
        return self._admin_secret

    def toolbox(self) -> Toolbox:
        """The declared tools."""
        return self._shop.map(lambda tool: Tool(tool.protocol, getattr(self, f"t_{tool.alias}"), tool.alias))

    def _make(self, name: str, arguments: Any) -> Any:
        self.made += 1
        kinds = (dict, list, str, int, float, bool, type(None))
        for value in (arguments, *arguments.keys(), *arguments.values()):
            if type(value) not in kinds:
                self.odd.append(f"{name} was given a {type(value).__name__}")
        return self._shop[name].call(arguments)


class Sibling:
    """A program that runs beside the hostile one, in a tool call until it is released."""

    def __init__(self, run: Callable[[str, Toolbox], Trace]) -> None:
        self._run = run
        self._released = threading.Event()
        self.holding = threading.Event()
        """Set once it is in its call."""
        self.calls = 0
        self.said: Any = None
        """What it printed and how it failed; None while it runs."""
        self._thread = threading.Thread(target=self._go, daemon=True)
        self._thread.start()
        self.holding.wait(10.0)

    def release(self) -> None:
        """Let it end."""
        self._released.set()
        self._thread.join(10.0)

    def trouble(self) -> str | None:
        """How it ended otherwise than it should."""
        if self.said == ("held\n", None) and self.calls == 1:
            return None
        return f"it made {self.calls} calls of 1 and ended with {self.said!r}"

    def _go(self) -> None:
        try:
            trace = self._run(SIBLING, Toolbox([make_tool("hold", {}, self._hold)]))
            self.said = (trace.stdout, trace.failure and trace.failure.message)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the sibling was harmed
            self.said = f"{type(error).__name__}: {error}"

    def _hold(self) -> str:
        self.calls += 1
        self.holding.set()
        self._released.wait(HOLD_SECONDS)
        return "held"
