"""The harness's end of the nursery: hosts on order, and what became of them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from protocols.errors import AtcError
from toolflow_bench.kills.cases import Kill
from toolflow_bench.kills.gate import Struck, Victim

MODULE = "toolflow_bench.kills.host"
SILENCE_SECONDS = 120.0
"""How long a host may say nothing before it counts as hung."""


class HostLost(AtcError):
    """The nursery or a host does not do what it should; the message says what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEnd:
    """How one host ended: `exit` is -9 where it was killed, `struck` then says when if it was by its own hand.

    `ended` is what it said of the run, `crashed` a traceback; both None where it was killed.
    """

    exit: int
    struck: Struck | None = None
    ended: Mapping[str, Any] | None = None
    crashed: str | None = None


class Nursery:
    """A process that forks hosts over the tools of `sources`. A context manager; one host at a time.

    `backend` is the sandbox that hosts use, `folder` where the process works.

    Raises:
        HostLost: it does not start.
    """

    def __init__(self, sources: Sequence[str], *, backend: str, folder: Path) -> None:
        ours, theirs = socket.socketpair()
        self._backend, self._log = backend, folder / "stderr"
        with theirs, self._log.open("wb") as errors:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", MODULE, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                pass_fds=[theirs.fileno()],
                env=_environment(),
                cwd=folder,
                start_new_session=True,  # one signal ends a host that hangs, too
            )
        self._socket = ours
        self._socket.settimeout(SILENCE_SECONDS)
        self._lines = ours.makefile("rw", encoding="utf-8")
        try:
            self._tell(sources=list(sources), sandbox=backend)
            self._hear()
        except BaseException:
            self.close()
            raise

    def host(self, order: Mapping[str, Any], *, kill: Kill | None, on_birth: Callable[[Victim], object]) -> HostEnd:
        """Let a host carry out `order`, and wait for its end. `on_birth` is told of it before it begins.

        Raises:
            HostLost: it hangs, or the nursery is gone.
        """
        self._tell(**order, sandbox=self._backend, kill=None if kill is None else asdict(kill))
        struck, ended, crashed = None, None, None
        with Victim(self._hear()["pid"]) as victim:
            on_birth(victim)
            self._tell(go=True)
            while "exit" not in (said := self._hear()):
                if "dies" in said:
                    struck = Struck(said["dies"], said["operation"], said["writes"])
                ended, crashed = said.get("ended", ended), said.get("crashed", crashed)
        return HostEnd(exit=said["exit"], struck=struck, ended=ended, crashed=crashed)

    def close(self) -> None:
        """End the nursery, and a host that it may have."""
        with suppress(OSError):
            self._lines.close()
        self._socket.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _tell(self, **message: Any) -> None:
        try:
            self._lines.write(json.dumps(message) + "\n")
            self._lines.flush()
        except OSError as error:
            raise self._lost("is gone") from error

    def _hear(self) -> dict[str, Any]:
        try:
            line = self._lines.readline()
        except TimeoutError as error:
            raise self._lost(f"says nothing for {SILENCE_SECONDS:.0f} s") from error
        except OSError as error:
            raise self._lost("is gone") from error
        if not line:
            raise self._lost("is gone")
        message: dict[str, Any] = json.loads(line)
        return message

    def _lost(self, what: str) -> HostLost:
        said = self._log.read_text("utf-8", "replace").strip().splitlines()
        return HostLost(f"the host process {what}" + (f": {said[-1]}" if said else "; run it again."))


def _environment() -> dict[str, str]:
    """Ours, with the packages where we have them, and no setting of `atc` from outside."""
    home = str(Path(__file__).resolve().parents[2])
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ATC_", "OPENAI_"))}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))}
