"""A user with settings and folders of their own, and services that they use, for tests of the command line."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

from tests.labs import commands
from tests.labs.loopback import Reply, serving
from tests.labs.paths import ROOT
from tests.labs.patience import PATIENCE


class User:
    """A user with settings of their own, and nobody at the terminal."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.settings = home / "config" / "atc" / "config.toml"
        self.settings.parent.mkdir(parents=True)
        self.work = home / "work"
        self.work.mkdir()

    @property
    def env(self) -> dict[str, str]:
        env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("ATC_", "XDG_", "OPENAI_"))
        }
        env |= {
            f"XDG_{kind.upper()}_HOME": str(self.home / kind)
            for kind in ("config", "state", "cache")
        }
        return env | {"PYTHONPATH": str(ROOT), "ATC_STRATEGY": "chain", "ATC_MAX_REPAIRS": "0"}

    def atc(self, *words: str, before: tuple[str, ...] = (), **variables: str):
        """The command line, started by the command `before` where there is one."""
        options = {
            "cwd": self.work,
            "env": self.env | variables,
            "stdin": subprocess.DEVNULL,
            "capture_output": True,
            "text": True,
        }
        if before:
            return subprocess.run([*before, *commands.REAL, *words], check=False, **options)
        return commands.run(words, **options)

    def run_text(self, program: str, *words: str):
        script = self.work / "script.json"
        script.write_text(json.dumps([f"```python\n{program}\n```"] * 4))
        return self.atc("run", "Do it.", "--model", f"scripted:{script}", *words)

    def run(self, program: str, *words: str):
        done = self.run_text(program, "--json", *words)
        return done, json.loads(done.stdout)


def service(stack, *operations, title="Shop"):
    """A service with a document of `(operationId, method, path)` at `/doc`."""
    paths: dict[str, dict] = {}
    for name, method, path in operations:
        responses = {"200": {"description": "", "content": {"application/json": {}}}}
        paths.setdefault(path, {})[method] = {"operationId": name, "responses": responses}
    document = {"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": paths}
    answer = lambda seen: Reply(body=document if seen.target == "/doc" else {"done": seen.target})  # noqa: E731
    return stack.enter_context(serving(answer))


def writes(server) -> list[str]:
    return [seen.target for seen in server.seen if seen.method == "POST"]


class Going:
    """A run whose program reads, which the test holds, and then writes."""

    def __init__(self, stack, user):
        self.reading, self.go = threading.Event(), threading.Event()
        stack.callback(self.go.set)

        def answer(seen):
            if seen.target == "/doc":
                return Reply(body=document)
            if seen.target == "/slow":
                self.reading.set()
                self.go.wait(PATIENCE)
            return Reply(body={"done": seen.target})

        told = {"200": {"description": "", "content": {"application/json": {}}}}
        paths = {
            "/slow": {
                "get": {"operationId": "slow", "summary": "Return the notes.", "responses": told}
            },
            "/order": {"post": {"operationId": "order", "responses": told}},
        }
        document = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "paths": paths}
        self.shop = stack.enter_context(serving(answer))
        self.user = user
        script = user.work / "script.json"
        script.write_text(json.dumps(["```python\nslow()\nprint(order()['done'])\n```"] * 3))
        words = [
            "run",
            "Order.",
            "--tools",
            f"{self.shop.url}/doc",
            "--model",
            f"scripted:{script}",
        ]
        self.words = [*words, "--allow-writes", "order"]

    def begin(self, *before: str) -> subprocess.Popen[bytes]:
        options = {"cwd": self.user.work, "env": self.user.env}
        options |= dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        if before:
            begun = subprocess.Popen([*before, *commands.REAL, *self.words], **options)
        else:
            begun = commands.Command(self.words, **options)
        assert self.reading.wait(PATIENCE)
        return begun
