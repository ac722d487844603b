"""The chain of tools (ATC): one program for the whole task, repaired from facts when it fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from atc.decode.decoder import Decoder
from atc.events import AttemptEnded, ProgramWritten, ToolsChosen
from atc.meter import BudgetSpent, Meter
from atc.repair import correction, worth_repairing
from atc.strategies.base import Parts
from atc.strategies.programs.attempt import attempt, checked, seen_output, with_named, written, wrote
from atc.strategies.programs.conclusion import conclusion
from atc.synthesize import opening, samples
from atc.types import Attempt, Fault, Finding, Program, Solution
from protocols.render import DETAILS, Docs, described_within, names_only, stubs, token_estimate
from protocols.toolbox import Toolbox

_FEW = 4
"""So few tools are never searched: the prompt sheds detail instead."""


def solve(
    task: str,
    parts: Parts,
    *,
    tools: Toolbox | None = None,
    meter: Meter | None = None,
    enough: Callable[[Sequence[Attempt]], bool] = lambda attempts: False,  # noqa: ARG005 - what it would be given
) -> Solution:
    """Retrieve, then write, check, execute, attribute and repair until an answer stands or the budget is spent.

    `tools` (else they are retrieved) and `meter` are those of a strategy that begins with this one; it is asked after
    each round that did not end the run whether the attempts are `enough`, and another way should be tried.
    """
    config, meter = parts.config, meter or parts.meter()
    if tools is None:
        tools = retrieve(task, parts, meter)
    messages = opening(task, tools, budget=parts.prompt_tokens, docs=config.docs)
    decoder = Decoder(config, tools, meter, task=task)
    attempts: list[Attempt] = []
    limit: str | None = None
    try:
        for round_ in range(config.max_repairs + 1):
            tried: list[Attempt] = []
            blind = not seen_output(attempts)
            for program in samples(
                messages,
                meter.complete,
                count=config.samples,
                temperature=config.temperature,
                decoder=decoder,
                stopped=lambda: bool(attempts and attempts[-1].findings),
            ):
                number = len(attempts)
                tried.append(attempt(task, program, tools, parts, meter, number=number, round_=round_, blind=blind))
                attempts.append(tried[-1])
                if _settled(tried, parts):
                    break
            if not tried:
                tried = [_without_program(round_)]
                parts.observer(AttemptEnded(len(attempts), tried[0]))
                attempts.append(tried[0])
            if _ended(tried, doubts_told=any(a.answer is not None for a in attempts if a.round < round_)):
                break
            if config.repair == "none" or round_ == config.max_repairs or enough(attempts):
                break
            messages += correction(
                worth_repairing(tried),
                parts.toolbox,
                mode=config.repair,
                complete=meter.complete,
                orphans=written(attempts, parts),
                messages=messages,
                docs=config.docs,
            )
    except BudgetSpent as spent:
        limit = spent.limit
    return conclusion(task, attempts, tools, parts, meter, answer=_elected(attempts), limit=limit)


def retrieve(task: str, parts: Parts, meter: Meter) -> Toolbox:
    """The tools that the prompt will hold: all where what is told of them fits it, else the best hits with producers.

    All is better than a choice: no search can miss a tool, and the same beginning of every prompt is read only once.
    Of ToolFlow's tasks, the best 8 of 20 candidates held all that was needed for four in ten; so details go first.
    """
    toolbox, budget, most = parts.toolbox, parts.prompt_tokens, parts.config.max_tools
    names: Sequence[str] = list(toolbox)
    transcript: tuple[str, ...] = ()
    docs = parts.config.docs
    if len(names) > _FEW and not _fit(toolbox, budget, docs):
        names, transcript = names[:most], ()
        try:
            found = parts.finder(meter.asker("retrieve")).search(task, k=most)
            names, transcript = [hit.tool for hit in found.hits] or names, found.transcript
        except BudgetSpent as spent:  # nor is anything left to act with: the strategy's next request ends the run
            transcript = (f"the search ended at {spent.limit}",)
    kept = described_within(toolbox.only(names), budget=budget, docs=docs)[1]
    parts.observer(ToolsChosen(tuple(kept), len(toolbox), transcript))
    return kept


def _fit(toolbox: Toolbox, budget: int, docs: Docs) -> bool:
    """Whether the least that can be said of each tool fits; of very many that need not be written out."""
    if len(toolbox) > budget:
        return False
    least = names_only(toolbox) if docs == "names" else stubs(toolbox, detail=DETAILS[-1])
    return token_estimate(least) <= budget


def _settled(tried: Sequence[Attempt], parts: Parts) -> bool:
    """Whether a round needs no further sample.

    So it is when enough answers without doubts agree; and always once a program has written something or was stopped
    before a write: another sample would be another plan, with other writes.
    """
    if tried[-1].paused or wrote(tried[-1], parts):
        return True
    answers = Counter(_comparable(a.answer) for a in tried if a.answer is not None and not a.doubts)
    return bool(answers) and max(answers.values()) >= parts.config.votes


def _ended(tried: Sequence[Attempt], *, doubts_told: bool) -> bool:
    """Whether a round ends the run: with an answer beyond doubt, or one whose doubts the model has been told of."""
    return any(a.paused or (a.answer is not None and (doubts_told or not a.doubts)) for a in tried)


def _comparable(answer: str) -> str:
    return " ".join(answer.casefold().split())


def _elected(attempts: Sequence[Attempt]) -> str | None:
    """The answer that stands: without doubts before with, a later round's before an earlier's, then by agreement.

    Among equals the earliest sample's, which is the greedy one.
    """
    answered = [a for a in attempts if a.answer is not None]
    count = Counter((_comparable(a.answer or ""), bool(a.doubts), a.round) for a in answered)
    best = max(
        answered,
        key=lambda a: (not a.doubts, a.round, count[_comparable(a.answer or ""), bool(a.doubts), a.round]),
        default=None,
    )
    return best.answer if best else None


def _without_program(round_: int) -> Attempt:
    fault = Fault(kind="syntax", message="The reply held no Python program.")
    return Attempt(Program(""), (), None, fault, round=round_)


def draft(task: str, parts: Parts) -> tuple[Toolbox, Program | None, tuple[Finding, ...]]:
    """What `solve` would execute first, and what the check finds in it, without any call (`atc run --dry-run`)."""
    meter = parts.meter()
    tools = retrieve(task, parts, meter)
    config = parts.config
    drafts: list[tuple[Program, tuple[Finding, ...]]] = []
    try:
        for program in samples(
            opening(task, tools, budget=parts.prompt_tokens, docs=config.docs),
            meter.complete,
            count=config.samples,
            temperature=config.temperature,
            decoder=Decoder(config, tools, meter, task=task),
            stopped=lambda: bool(drafts and drafts[-1][1]),
        ):
            program, findings, mended = checked(task, program, with_named(program, tools, parts.toolbox))
            parts.observer(ProgramWritten(len(drafts), program, findings, mended))
            drafts.append((program, findings))
            if not findings:
                break
    except BudgetSpent as spent:
        meter.note(f"{spent.limit}: no more programs were written.")
    best = min(drafts, key=lambda draft: len(draft[1]), default=(None, ()))
    return tools, *best
