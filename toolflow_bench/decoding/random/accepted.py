"""Whether the automaton takes the published sets' own calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from atc.decode.formats import FUNCTION, JSON_CALL, PYTHON_CALL, CallFormat
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.decoding.gold import Gold, gold_calls
from toolflow_bench.decoding.random.figures import GoldRow
from toolflow_bench.decoding.random.plan import refusal

if TYPE_CHECKING:
    from atc.decode.automaton import ToolAutomaton
    from atc.decode.vocabulary import Vocabulary


def gold_rows(data: Path, vocabulary: Vocabulary) -> Sequence[GoldRow]:
    """What the automaton makes of the gold calls that `data` has; none where it has none."""
    groups: dict[str, list[Gold]] = {}
    for gold in gold_calls(data):
        groups.setdefault(gold.source, []).append(gold)
    rows = []
    for source, every in groups.items():
        takers: dict[tuple[int, str], ToolAutomaton | None] = {}
        fitting = [gold for gold in every if gold.conforms]
        refused = [gold for gold in fitting if not _accepted(gold, takers, vocabulary)]
        rows.append(
            GoldRow(
                source=source,
                calls=len(every),
                accepted=len(fitting) - len(refused),
                lacking=tuple(f"{_told(gold)}: {gold.why}" for gold in every if not gold.conforms),
                refused=tuple(map(_told, refused)),
            )
        )
    return rows


def _told(gold: Gold) -> str:
    return f"{gold.tool.alias}({gold.text})"


def _accepted(gold: Gold, takers: dict[tuple[int, str], ToolAutomaton | None], vocabulary: Vocabulary) -> bool:
    """Whether the whole call is taken, token by token as the vocabulary splits it, and is complete then."""
    form = {"json": JSON_CALL, "positional": FUNCTION, "keywords": PYTHON_CALL}[gold.form]
    key = (id(gold.tool), gold.form)
    if key not in takers:
        takers[key] = _taker(gold.tool, form, vocabulary)
    if (taker := takers[key]) is None:
        return False
    automaton = taker.fresh()
    name = next(iter(Toolbox([gold.tool])))
    try:
        for token in vocabulary.encode(form.before + name + form.between + gold.text + form.after):
            automaton.advance(token)
    except ValueError:
        return False
    return automaton.is_complete


def _taker(tool: Tool, form: CallFormat, vocabulary: Vocabulary) -> ToolAutomaton | None:
    from atc.decode.automaton import ToolAutomaton

    automaton = ToolAutomaton(Toolbox([tool]), vocabulary, form)
    return None if refusal(Toolbox([tool]), form) else automaton
