"""Many queries in one file, resumable: a header, then a line for each that was made or refused, in order of number."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from atc.retrieve.tally import Tally
from protocols.abridge import abridged
from protocols.ask import Ask
from protocols.jsontypes import Json, JsonObject
from toolflow_bench.anytoolbench.construct import Constructor, Outcome
from toolflow_bench.anytoolbench.solution import Written
from toolflow_bench.lines import InvalidRunFile, LineFile, differences, read_lines

FORMAT = "atc-anytoolbench-1"
_ADVICE = "give another --out, or remove it to begin anew."

_LONGEST_RESPONSE = 20_000
"""Characters of a response that is kept whole."""

OnRow = Callable[[int], None]
"""Told how many queries there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came of the attempts: `rejected` counts by reason, `categories` the queries by how many theirs are."""

    attempts: int
    queries: int
    rejected: Mapping[str, int]
    categories: Mapping[str, int]
    calls: int
    """Calls of the solutions."""
    explored: int
    tested: int
    model_calls: int
    input_tokens: int
    output_tokens: int

    def as_json(self) -> JsonObject:
        """Figures by name."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


class QueryFile(LineFile):
    """An open file of queries, locked against other processes; `rows` are those so far, refused ones too.

    Raises:
        InvalidRunFile: it holds queries made otherwise, is no such file, is locked or cannot be written.
    """

    def __init__(self, path: Path, header: JsonObject) -> None:
        super().__init__(path, synced=True)
        self.rows: list[dict[str, Any]] = []
        try:
            self._begin({"format": FORMAT, **json.loads(json.dumps(header))})
        except BaseException:
            self.close()
            raise

    def append(self, row: Mapping[str, Any]) -> None:
        """Write a row; it is on disk when this returns."""
        self.write(row)
        self.rows.append(dict(row))

    def _begin(self, header: dict[str, Any]) -> None:
        start = b'{"format"'
        if not self.content.startswith(start[: len(self.content)]):
            raise InvalidRunFile(f"{str(self.path)!r} is no file of queries; give another --out.")
        if not self.whole:
            self.keep(b"")
            self.write(header)
            return
        found, self.rows = _parsed(self.whole, self.path)
        self.keep(self.whole)
        if differing := differences(found, header):
            raise InvalidRunFile(f"{str(self.path)!r} holds queries made otherwise ({'; '.join(differing)}); {_ADVICE}")


def make_queries(
    constructor: Constructor,
    ask: Ask,
    *,
    out: Path,
    header: JsonObject,
    count: int,
    tries: int = 3,
    on_row: OnRow | None = None,
) -> Figures:
    """Go on until `out` holds `count` queries, or `tries` times as many were attempted.

    What an earlier run under an equal `header` made or refused stands; more may be asked for later.

    Raises:
        InvalidRunFile: the file cannot be used or continued.
        ModelUnavailable: the model did not answer; what is done stands, and another run goes on with the next query.
    """
    with QueryFile(out, header) as file:
        while len(_taken(file.rows)) < count and len(file.rows) < tries * count:
            number = len(file.rows)
            tally = Tally(ask)
            outcome = constructor.construct(number, tally)
            file.append({**_row(constructor, number, outcome, _taken(file.rows)), "usage": asdict(tally.usage)})
            if on_row is not None:
                on_row(len(_taken(file.rows)))
        return figures(file.rows)


def read_queries(path: Path) -> list[dict[str, Any]]:
    """The queries of a file, without those that were refused: `query`, `answer`, `gold`, `solution` and more of each.

    Raises:
        InvalidRunFile: it cannot be read, or is no such file.
    """
    advice = "give a file that 'atc bench data anytool' wrote."
    return _taken(_parsed(read_lines(path, advice=advice), path, advice=advice)[1])


def figures(rows: Sequence[Mapping[str, Any]]) -> Figures:
    """The figures of rows of a file."""
    taken = _taken(rows)
    used = [row["usage"] for row in rows]
    sizes = Counter(len(row["categories"]) for row in taken)
    return Figures(
        attempts=len(rows),
        queries=len(taken),
        rejected=dict(sorted(Counter(row["rejected"] for row in rows if "rejected" in row).items())),
        categories={str(size): sizes[size] for size in sorted(sizes)},
        calls=sum(len(row["solution"]) for row in taken),
        explored=sum(row["explored"] for row in rows),
        tested=sum(row["tested"] for row in rows),
        model_calls=sum(one["model_calls"] for one in used),
        input_tokens=sum(one["input_tokens"] for one in used),
        output_tokens=sum(one["output_tokens"] for one in used),
    )


def lines(figures: Figures) -> list[str]:
    """The figures for people."""
    shown = [f"queries  {figures.queries} of {figures.attempts} attempts, {figures.calls} calls in solutions"]
    if figures.categories:
        sizes = ", ".join(f"{count} of {size}" for size, count in figures.categories.items())
        shown.append(f"span     {sizes} categories")
    if figures.rejected:
        shown.append("rejected " + ", ".join(f"{count} ({reason})" for reason, count in figures.rejected.items()))
    took = f"{figures.model_calls:,} replies, {figures.input_tokens:,} tokens in, {figures.output_tokens:,} out"
    return [*shown, f"took     {took}, {figures.explored} exploring calls, {figures.tested} tests"]


def _row(constructor: Constructor, number: int, outcome: Outcome, taken: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is kept of an attempt."""
    row: dict[str, Any] = {"id": f"anytool-{constructor.settings.seed}-{number:04}"}
    rejected = outcome.refusal.kind if outcome.refusal else ""
    detail = outcome.refusal.detail if outcome.refusal else ""
    if outcome.written is not None:
        apis = list(dict.fromkeys(call.api for call in outcome.made))
        if not rejected and (same := _same(outcome.written, apis, taken)):
            rejected, detail = "repeated", f"{same} has the same text, or takes the same APIs"
        row |= {
            "query": outcome.written.query,
            "answer": outcome.written.answer,
            "gold": apis,
            "categories": constructor.pool.categories(apis),
            "solution": [{**asdict(call), "response": _kept(call.response)} for call in outcome.made],
            "reason": outcome.reason,
        }
    row |= {"rejected": rejected, "detail": detail} if rejected else {}
    row |= {"turns": outcome.turns, "explored": outcome.explored, "tested": outcome.tested}
    return {**row, "told": [asdict(one) for one in outcome.told], "transcript": list(outcome.transcript)}


def _kept(response: Json) -> Json:
    """A response, or its beginning and its shape as text where it is long."""
    whole = len(json.dumps(response, default=repr)) <= _LONGEST_RESPONSE
    return response if whole else abridged(response, most=_LONGEST_RESPONSE)


def _same(written: Written, apis: Sequence[str], taken: Sequence[Mapping[str, Any]]) -> str:
    """The id of a query that was taken before and is the same to a solver; empty where there is none."""
    text = written.query.casefold()
    alike = (row["id"] for row in taken if row["query"].casefold() == text or set(row["gold"]) == set(apis))
    return next(alike, "")


def _taken(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(row) for row in rows if "rejected" not in row]


def _parsed(content: bytes, path: Path, *, advice: str = _ADVICE) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the rows of a file's whole lines."""
    try:
        header, *rows = (json.loads(line) for line in content.splitlines())
        known = header["format"] == FORMAT
        _ = figures(rows)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidRunFile(f"{str(path)!r} is no file of queries ({error}); {advice}") from error
    if not known:
        raise InvalidRunFile(f"{str(path)!r} has the format {header['format']!r}, not {FORMAT!r}; {advice}")
    return header, rows
