"""The figures of random decoding, for machines and as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from toolflow_bench.decoding.random.plan import Rejected

_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One call. `verdict`: `valid`; `invalid`; `unfinished`; `unheld`: invalid by a clause that the decoder said
    beforehand no grammar holds (`uniqueItems`), which is checked afterwards.
    """

    number: int
    source: str
    catalogue: str
    form: str
    sampler: str
    verdict: str
    tokens: int
    kinds: tuple[str, ...] = ()
    why: str = ""
    text: str = ""
    """Of a call that is not valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRow:
    """One program. `why` says what the check is certain of, `failed` what stopped it on made-up responses."""

    number: int
    source: str
    sampler: str
    statements: int
    tokens: int
    unfinished: str = ""
    why: tuple[str, ...] = ()
    failed: str = ""
    text: str = ""
    """Of a program that is not clean, or did not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRow:
    """One source of gold calls. `lacking` are those that do not conform to their schemas, `refused` the others that
    the automaton does not take.
    """

    source: str
    calls: int
    accepted: int
    lacking: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomReport:
    """What random decoding came to."""

    seed: int
    vocabulary: int
    calls: Sequence[CallRow]
    rejected: Sequence[Rejected]
    programs: Sequence[ProgramRow] = ()
    gold: Sequence[GoldRow] = ()
    notes: Sequence[str] = field(default=())
    left: int = 0

    def as_json(self) -> dict[str, Any]:
        """All figures, and every call and program that is not as it should be."""
        return {
            "seed": self.seed,
            "vocabulary": self.vocabulary,
            "calls": {"all": _counts(self.calls), **{name: self._by(key) for name, key in _KEYS.items()}},
            "misses": [asdict(row) for row in self.calls if row.verdict != "valid"],
            "rejected": [asdict(one) for one in self.rejected],
            "programs": self._programs(),
            "gold": [asdict(row) for row in self.gold],
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """The tables."""
        counts = _counts(self.calls)
        head = (
            f"{counts['calls']:,} calls with random logits, seed {self.seed}, {self.vocabulary:,} tokens: "
            f"{counts['invalid']} invalid, {counts['unfinished']} unfinished, {counts['unheld']} break a clause that "
            f"no grammar holds; tokens a call: median {counts['tokens_median']}, at most {counts['tokens_most']}"
        )
        told = [
            head,
            "",
            "| calls of | n | invalid | unfinished | unheld | median tokens |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        for name, key in _KEYS.items():
            if name == "by kind":
                continue
            for value, part in self._by(key).items():
                cells = (part[c] for c in ("calls", "invalid", "unfinished", "unheld", "tokens_median"))
                told.append(f"| {value} | {' | '.join(f'{cell:,}' for cell in cells)} |")
        return [*told, *self._rejected_lines(), *self._program_lines(), *self._gold_lines(), *self._miss_lines()]

    def _by(self, key: Callable[[CallRow], Sequence[str]]) -> dict[str, dict[str, Any]]:
        groups: dict[str, list[CallRow]] = {}
        for row in self.calls:
            for value in key(row):
                groups.setdefault(value, []).append(row)
        return {value: _counts(groups[value]) for value in groups}

    def _programs(self) -> dict[str, Any]:
        rows = self.programs
        return {
            "programs": len(rows),
            "clean": sum(not row.why and not row.unfinished for row in rows),
            "unfinished": sum(bool(row.unfinished) for row in rows),
            "ran": sum(not row.failed and not row.unfinished for row in rows),
            "failures": dict(Counter(row.failed.partition(":")[0] for row in rows if row.failed)),
            "statements_median": median([row.statements for row in rows] or [0]),
            "tokens_median": median([row.tokens for row in rows] or [0]),
            "tokens_most": max((row.tokens for row in rows), default=0),
            "misses": [asdict(row) for row in rows if row.why or row.unfinished],
        }

    def _rejected_lines(self) -> list[str]:
        if not self.rejected:
            return []
        told = Counter((one.problem, one.satisfiable) for one in self.rejected)
        known = sum(one.satisfiable for one in self.rejected)
        head = (
            f"{len(self.rejected)} refused at build; of {known} arguments are known that conform, the others are "
            "contradictory or cannot be known:"
        )
        shown = [
            f"- {count} x {problem[:110]}{' (something conforms)' if satisfiable else ''}"
            for (problem, satisfiable), count in told.most_common(_SHOWN)
        ]
        return ["", head, *shown]

    def _program_lines(self) -> list[str]:
        if not self.programs:
            return []
        found = self._programs()
        failures = ", ".join(f"{name} {count}" for name, count in found["failures"].items()) or "none"
        told = (
            f"{found['programs']:,} programs with random logits: {found['clean']:,} clean to the static check, "
            f"{found['unfinished']} unfinished, {found['ran']:,} ran on made-up responses (stopped by: {failures}); "
            f"median {found['statements_median']} statements, {found['tokens_median']} tokens, "
            f"at most {found['tokens_most']:,}"
        )
        return ["", told]

    def _gold_lines(self) -> list[str]:
        told = []
        for row in self.gold:
            told.append(
                f"gold calls of {row.source}: {row.accepted:,} of {row.calls - len(row.lacking):,} that conform are "
                f"accepted; {len(row.lacking)} do not conform"
            )
            told += [f"- refused: {one[:160]}" for one in row.refused[:_SHOWN]]
            told += [f"- does not conform: {one[:160]}" for one in row.lacking[:_SHOWN]]
        return ["", *told] if told else []

    def _miss_lines(self) -> list[str]:
        missed = [row for row in self.calls if row.verdict in ("invalid", "unfinished")]
        told = [
            f"- call {row.number} ({row.catalogue}, {row.form}, {row.sampler}): {row.why}" for row in missed[:_SHOWN]
        ]
        told += [
            f"- program {row.number} ({row.source}, {row.sampler}): {row.unfinished or row.why[0]}"
            for row in [row for row in self.programs if row.why or row.unfinished][:_SHOWN]
        ]
        return ["", *told, *self.notes] if told or self.notes else []


_KEYS: dict[str, Callable[[CallRow], Sequence[str]]] = {
    "by source": lambda row: [row.source],
    "by format": lambda row: [f"format {row.form}"],
    "by sampler": lambda row: [row.sampler],
    "by kind": lambda row: row.kinds,
}


def _counts(rows: Sequence[CallRow]) -> dict[str, Any]:
    tokens = [row.tokens for row in rows] or [0]
    verdicts = Counter(row.verdict for row in rows)
    return {
        "calls": len(rows),
        **{name: verdicts[name] for name in ("invalid", "unfinished", "unheld")},
        "tokens_median": int(median(tokens)),
        "tokens_most": max(tokens),
    }
