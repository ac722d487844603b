"""One query of AnyToolBench (A.8): a model explores, writes and solves; what it hands in is verified and filtered."""

from __future__ import annotations

from dataclasses import dataclass, field

from atc.retrieve.hierarchy import listing
from atc.retrieve.hierarchy.room import Room
from protocols.ask import Ask, Message
from toolflow_bench.anytoolbench.desk import Desk
from toolflow_bench.anytoolbench.handing_in import Gate
from toolflow_bench.anytoolbench.judge import judged
from toolflow_bench.anytoolbench.pool import ApiPool
from toolflow_bench.anytoolbench.prompts import fill
from toolflow_bench.anytoolbench.screening import screen
from toolflow_bench.anytoolbench.settings import Settings
from toolflow_bench.anytoolbench.solution import Made, Refusal, Written

_REPLY_TOKENS = 1500
_MOST_REPEATS = 3
"""Calls with the same result as before, in a row, after which the writing ends: it would go on so."""
_REPEATED = "the result is the same as before; make another call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one query: taken where there is no `refusal`.

    `written` is what was handed in last and passed the rules, `reason` the judge's, `told` what was refused on the way.
    """

    written: Written | None = None
    made: tuple[Made, ...] = ()
    refusal: Refusal | None = None
    reason: str = ""
    told: tuple[Refusal, ...] = ()
    turns: int = 0
    explored: int = 0
    tested: int = 0
    transcript: tuple[str, ...] = field(default=(), repr=False)
    """Each call with its result, shortened."""


class Constructor:
    """Makes queries over `pool`, one a number; the same number is made in the same way."""

    def __init__(self, pool: ApiPool, settings: Settings) -> None:
        self.pool, self.settings = pool, settings
        self._gate = Gate(api.document for api in pool.values())

    def construct(self, number: int, ask: Ask) -> Outcome:
        """The query `number`.

        Raises:
            ModelUnavailable: the model did not answer; nothing of the query is kept.
        """
        desk = Desk(self.pool, ask, self.settings, self._gate, self._shown(number, ask))
        transcript = self._explore(desk, number, ask)
        refusal, reason = self._verdict(desk, ask, turns=len(transcript))
        return Outcome(
            written=desk.written,
            made=desk.made,
            refusal=refusal,
            reason=reason,
            told=tuple(desk.refusals),
            turns=len(transcript),
            explored=desk.explored,
            tested=desk.tested,
            transcript=tuple(transcript),
        )

    def _shown(self, number: int, ask: Ask) -> list[str]:
        """The categories in an order of chance, as many as a prompt holds: a model likes what it reads first."""
        names = list(self.pool.hierarchy.tools)
        self.settings.chance("categories", number).shuffle(names)
        lines = listing.category_lines(names, self.pool.hierarchy)
        return list(listing.groups(names, lines, room=Room.of(ask.prompt_tokens).scope)[0][0])

    def _explore(self, desk: Desk, number: int, ask: Ask) -> list[str]:
        """Let the model call until a query is taken, or a bound is met; each call with its result."""
        agent, settings = desk.agent, self.settings
        agent.history = self._opening(desk)
        transcript: list[str] = []
        heard: dict[str, str] = {}
        repeats = 0
        while not desk.ended and len(transcript) < settings.turns and repeats < _MOST_REPEATS:
            reply = ask(
                agent.prompt(room=desk.search.room.prompt),
                schema=desk.schema(),
                temperature=settings.temperature,
                seed=settings.chance("turn", number, len(transcript)).getrandbits(31),
                max_tokens=_REPLY_TOKENS,
            )
            call, result = desk.perform(reply.text)
            repeated = heard.get(call) == result
            repeats = repeats + 1 if repeated else 0
            heard[call] = result
            agent.history.append(Message("assistant", reply.text))
            agent.hear(_REPEATED if repeated else result)
            transcript.append(f"{_short(call)} → {_short(listing.plain(result))}")
        return transcript

    def _opening(self, desk: Desk) -> list[Message]:
        settings = self.settings
        instructions = fill(
            "write",
            explore=str(settings.explore),
            least=str(settings.least_categories),
            most=str(settings.most_categories),
            words=str(settings.words),
        )
        lines = listing.category_lines(desk.agent.categories, self.pool.hierarchy)
        task = fill("write_task", categories="\n".join(lines), turns=str(settings.turns))
        return [Message("system", instructions), Message("user", task)]

    def _verdict(self, desk: Desk, ask: Ask, *, turns: int) -> tuple[Refusal | None, str]:
        """Why the query is not taken, and what the judge said."""
        if desk.written is None:
            why = "" if turns >= self.settings.turns else ": it repeats itself"
            unfinished = Refusal("unfinished", f"nothing was handed in within {turns} calls{why}")
            return (desk.refusals or [unfinished])[-1], ""
        reason, refusal = judged(desk.written, desk.made, ask)
        if refusal is None:
            screened = screen(desk.written.query, ask, names=self._gate.names)
            refusal = Refusal(screened.kind, screened.reason) if screened.kind else None
        return refusal, reason


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]}…"
