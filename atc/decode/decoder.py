"""How the programs of a run are decoded: freely, or statement by statement; and which when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from atc.config import Config
from atc.meter import Meter
from atc.types import Program
from protocols.ask import Message
from protocols.toolbox import Toolbox

if TYPE_CHECKING:
    from atc.decode.write import Written

INSTALL = 'pip install "automatic-tool-chain[decode]"'
_INSTEAD = "programs are written freely, checked, and sampled again"


def constrained(config: Config, *, stopped: bool) -> bool:
    """Whether the next program is held to grammars; `stopped`: the check found the last one to be wrong.

    `auto` lets the model write freely as long as that goes well: its own way is the better one as often as not. Where
    it was told no more than names, only grammars know the rest.
    """
    if config.decoding == "auto":
        return stopped or config.docs == "names"
    return config.decoding == "program"


class Decoder:
    """Writes programs over `tools` under grammars, where the settings ask for it and the model can be held to them.

    Where it cannot, that is noted with the run, and programs are written freely.
    """

    def __init__(self, config: Config, tools: Toolbox, meter: Meter, *, task: str) -> None:
        self._config, self._tools, self._meter, self._task = config, tools, meter, task
        self._ignored = ""
        if config.docs == "names" and config.decoding in ("off", "calls"):
            meter.note(
                f"docs: with decoding {config.decoding!r} nobody knows more than the tools' names, and arguments and"
                " responses are guessed; use --decoding program, or --docs full."
            )

    def constrains(self, *, stopped: bool) -> bool:
        """Whether the next program is held to grammars. Notes where it was asked for, and cannot be."""
        if not constrained(self._config, stopped=stopped):
            return False
        why = self._ignored or self._missing()
        if why and (self._config.decoding != "auto" or self._config.docs == "names"):
            self._meter.note(f"decoding: {why}; {_INSTEAD}.")
        return not why

    def write(
        self,
        messages: Sequence[Message],
        *,
        purpose: str,
        temperature: float,
        seed: int,
        before: str = "",
        seen: str = "",
    ) -> Program | None:
        """A program, or a piece of one that stands behind `before`; None where grammars did not hold the model.

        `seen` are results that the model was shown.
        """
        from atc.decode.bounds import BOUNDS
        from atc.decode.errors import Undecodable
        from atc.decode.program import Statements
        from atc.decode.write import write_program

        try:
            task = f"{self._task}\n{seen}"
            statements = Statements(self._tools, task=task)
            written = write_program(
                messages,
                self._meter.complete,
                statements,
                Statements(self._tools, task=task, bounds=replace(BOUNDS, statements=0)),
                purpose=purpose,
                temperature=temperature,
                seed=seed,
                before=before,
            )
        except Undecodable as error:
            self._meter.note(f"decoding: {error}; {_INSTEAD}.")
            return None
        unheld = statements.unheld(before + written.source) if written.held and written.ended else ()
        return self._judged(written, unheld)

    def _judged(self, written: Written, unheld: Sequence[str]) -> Program | None:
        if not written.held:
            if not written.source:
                self._ignored = f"the model's endpoint ignores grammars: {written.why}"
            self._meter.note(f"decoding: {self._ignored or written.why}; {_INSTEAD}.")
            return None
        if not written.ended:
            self._meter.note(f"decoding: a program is not whole: {written.why}.")
        if unheld:
            self._meter.note(f"decoding: no grammar holds {', '.join(unheld)}; the host refuses what breaks it.")
        return Program(written.source) if written.source.strip() else None

    def _missing(self) -> str:
        """What keeps the model from being held to grammars, as a clause."""
        powers = self._meter.powers
        if powers.grammars and find_spec("llguidance") is None:
            return f"grammars need the package llguidance: {INSTALL}"
        if "lark" not in powers.grammars:
            return "the model's endpoint takes no grammars in Lark"
        return "" if powers.continues else "the model's endpoint does not go on from words that it is given"
