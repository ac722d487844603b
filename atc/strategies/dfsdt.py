"""DFSDT: a depth-first search among turns of ReAct (ToolLLM, Qin et al. 2024, §3.2 and the published code).

A point from which the first way led nowhere is taken up again: the model is shown what it did there, and asked for
something else. Only the path to the answer is the program that solves the task; what abandoned ways wrote stays in the
world, and a run that leaves such writes behind ends paused. With `tries=3` it begins anew as ReAct@3 does.

A read that an earlier way made is answered by the journal as it was then, even if that way has written since. That is
right: the program that the path is makes no such write, so its reads are those of a world without it. In that world the
run is again when a call has undone the write (and what is read behind that call is read anew); while none has, the run
is not solved, whatever it read.
"""

from __future__ import annotations

from dataclasses import dataclass

from atc.core.prompts import fill
from atc.core.types import Solution
from atc.run.conversation import Turn, Turns
from atc.run.single_calls import Offer, SingleCallRun
from atc.run.strategy_run import Parts
from atc.strategies.react import ByTurns, next_turn
from protocols.truncate import clip_text

WIDTH = 2
"""Ways that are tried from one point."""
DEPTH = 12
"""Turns of one way. The published code counts thought, action and input as one each, which leaves four turns: too few
for any long task of ToolFlow."""
MOST_TURNS = 200
"""Turns of one search, as the published runs bound its requests."""
_BACK = 2
"""Levels that a way given up goes back: the point before the last call is taken up again, not the one after it."""
_LONGEST_TOLD = 600
"""Characters of an earlier way's words that are shown again."""
_OUT = DEPTH + 2
"""More levels than there are: the search is over."""


def solve(task: str, parts: Parts, *, tries: int = 1) -> Solution:
    """Search until a way ends with an answer, none is left, or the budget is spent."""
    return ByTurns(task, parts, search, tries=tries, back=True).solve()


def search(
    turns: Turns, offer: Offer, acting: SingleCallRun, *, most: int = MOST_TURNS
) -> str | None:
    """Search from where `turns` and `acting` stand, at most so many turns; see `Way`.

    Afterwards both hold the way that was taken last: that to the answer, where there is one.
    """
    found = _Search(turns, offer, acting, most)
    found.expand(0)
    return found.limit


@dataclass
class _Search:
    """One search. `taken` counts its turns; those of ways that were left, too."""

    turns: Turns
    offer: Offer
    acting: SingleCallRun
    most: int
    taken: int = 0
    limit: str | None = None

    def expand(self, depth: int) -> int:
        """Try up to `WIDTH` ways from here; how many levels the caller goes back then (1: it tries its next way)."""
        if depth == DEPTH:
            return 1
        turns = len(self.turns.taken)
        calls = len(self.acting.standing)
        before: list[Turn] = []
        for _ in range(WIDTH):
            if self.taken == self.most:
                self.limit = f"{self.most} steps"
                return _OUT
            self.turns.back_to(turns)
            self.acting.standing = self.acting.standing[:calls]
            told = "\n\n".join(
                f"{clip_text(one.reply_text, _LONGEST_TOLD)}\n{one.feedback}".strip()
                for one in before
            )
            then = fill("dfsdt_again", before=told) if before else ""
            turn = next_turn(self.turns, self.offer, self.acting, then=then)
            self.taken += 1
            self.turns.taken.append(turn)
            before.append(turn)
            back = (
                _BACK
                if turn.end == "back"
                else self.expand(depth + 1)
                if turn.end is None
                else _OUT
            )
            if back > 1:
                return back if back == _OUT else back - 1
        return 1
