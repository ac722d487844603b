"""What CPython alone makes of a program: `python plain.py SOURCE DESCRIPTOR`. Standard library alone.

The tools are plain functions that answer as `sandbox.conformance.shop` does. How the program ended goes to the
descriptor as JSON.
"""

from __future__ import annotations

import builtins
import json
import os
import random
import sys
import types
from pathlib import Path
from typing import Any, NoReturn


class ToolError(Exception):
    """A call that failed."""

    def __init__(self, status: int | None, body: str) -> None:
        super().__init__(status, body)
        self.status, self.body = status, body

    def __str__(self) -> str:
        return self.body if self.status is None else f"HTTP {self.status}: {self.body}"


ToolError.__module__ = "builtins"


def get_item(*, id: int) -> dict[str, Any]:  # noqa: A002 - the tool's argument
    """One item."""
    if not 0 <= id < 1000:
        raise ToolError(404, f"no item {id}")
    return {"id": id, "name": f"item {id}", "price": id * 1.5}


def list_items(*, page: int) -> list[dict[str, Any]]:
    """Ten items of a page; none beyond the fifth page."""
    return [get_item(id=page * 10 + row) for row in range(10)] if page < 5 else []


def echo(*, text: str) -> str:
    """The text."""
    return text


def main(path: str, descriptor: int) -> NoReturn:
    """Run the program, tell how it ended, and end."""
    source = Path(path).read_text(encoding="utf-8")
    random.seed(0)  # as every sandboxed run does
    builtins.ToolError = ToolError  # type: ignore[attr-defined]
    sys.argv = ["program.py"]
    main_module = sys.modules["__main__"] = types.ModuleType("__main__")
    vars(main_module).update(get_item=get_item, list_items=list_items, echo=echo)
    ended = None
    try:
        exec(compile(source, "program.py", "exec"), vars(main_module))  # noqa: S102 - the program is an ordinary one
    except BaseException as error:  # noqa: BLE001 - however it ends is what we are asked
        ended = None if isinstance(error, SystemExit) and not error.code else type(error).__name__
    sys.stdout.flush()
    os.write(descriptor, json.dumps({"failure": ended}).encode("ascii"))
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
