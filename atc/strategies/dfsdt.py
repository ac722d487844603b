"""DFSDT: depth-first search over turns of ReAct.

After ToolLLM (Qin et al. 2024, §3.2 and the published code). If a path fails, the search returns to
an earlier turn: the model is shown what it did there and asked for something else. Only the path to
the answer becomes the program that solves the task. Writes of abandoned paths are not undone, and a
run that leaves such writes ends paused. With `tries=3` it restarts like ReAct@3.

A read that an abandoned path already made is not sent again: its recorded response is used, even if
that path has written since. This is correct: the final program makes no such write, so its reads
must show the state without it. The state is consistent again once a call has undone the write;
later reads are then sent anew. Until then the run is not solved, whatever it has read.
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
"""Number of alternatives that are tried at one turn."""
DEPTH = 12
"""Maximum number of turns on one path.

The published code counts thought, action and input separately, which leaves four turns: too few for
the long tasks of ToolFlow.
"""
MOST_TURNS = 200
"""Maximum number of turns of one search, as in the published runs."""
_BACK = 2
"""Number of levels that the search goes back when the model gives up a path.

This leads to the turn before its last call.
"""
_LONGEST_TOLD = 600
"""Maximum length, in characters, of the text of an earlier alternative in a prompt."""
_OUT = DEPTH + 2
"""A number of levels larger than any depth; going back so many levels ends the search."""


def solve(task: str, parts: Parts, *, tries: int = 1) -> Solution:
    """Search until a path ends with an answer, no path is left, or the budget is used up."""
    return ByTurns(task, parts, search, tries=tries, back=True).solve()


def search(
    turns: Turns, offer: Offer, acting: SingleCallRun, *, most: int = MOST_TURNS
) -> str | None:
    """Search for an answer with at most `most` turns. Return the limit that ended it, or None.

    The search begins with the conversation `turns` and the calls of the run `acting`, and changes
    both. Afterwards they contain the path that was taken last. This is the path to the answer, if
    one was found.
    """
    found = _Search(turns, offer, acting, most)
    found.expand(0)
    return found.limit


@dataclass
class _Search:
    """One depth-first search. `taken` counts its turns, including those of abandoned paths."""

    turns: Turns
    offer: Offer
    acting: SingleCallRun
    most: int
    taken: int = 0
    limit: str | None = None

    def expand(self, depth: int) -> int:
        """Try up to `WIDTH` different turns at this depth. Return how many levels to go back.

        The caller of this method is one level higher. If the result is 1, the caller tries another
        turn at its own depth.
        """
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
            back = _OUT
            if turn.end == "back":
                back = _BACK
            elif turn.end is None:
                back = self.expand(depth + 1)
            if back > 1:
                return back if back == _OUT else back - 1
        return 1
