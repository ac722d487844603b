"""FuncQA's questions with the gold calls that answer them, and the calls of its training rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolflow_bench.decoding.data import InvalidDecodingData, read_json
from toolflow_bench.decoding.frame import Case

_EXPECTED = "FuncQA's one_hop.json"
_CALL = re.compile(r"<?(?P<name>\w+)>?\((?P<arguments>[^()]*)\)\s*(?:=(?P<result>[^<]*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldCall:
    """A call as the data write it: arguments and result are texts. `negated`: a minus stands before the call."""

    name: str
    arguments: tuple[str, ...]
    result: str = ""
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FuncQuestion(Case):
    """A question whose answer is a number. `calls` are the gold calls, as far as they can be read."""

    calls: tuple[GoldCall, ...] = ()

    def accepts(self, result: float) -> bool:
        """Whether a last call's result is right, within 0.1%.

        Where the gold call stands behind a minus, its result is right too: the sign is not the call's to give.
        """
        signs = (1.0, -1.0) if self.calls and self.calls[-1].negated else (1.0,)
        return any(close(sign * result, float(self.expected)) for sign in signs)


def close(found: float, wanted: float) -> bool:
    """Equal within 0.1% of `wanted`."""
    return abs(found - wanted) <= 0.001 * abs(wanted)


def read_questions(path: Path) -> list[FuncQuestion]:
    """The questions of a file, or of `one_hop.json` in a folder: a list of rows, or an object that holds one.

    Raises:
        InvalidDecodingData: the file is missing, or is not what it should be.
    """
    file = path / "one_hop.json" if path.is_dir() else path
    content = read_json(file, expected=_EXPECTED)
    if isinstance(content, Mapping):
        lists = [part for part in content.values() if isinstance(part, list) and part and isinstance(part[0], Mapping)]
        content = lists[0] if len(lists) == 1 else content
    if not isinstance(content, list) or not content:
        raise InvalidDecodingData(f"{str(file)!r} has no list of questions; it should be as {_EXPECTED}.")
    questions = [_question(row, f"{file}, row {number}", number) for number, row in enumerate(content)]
    if len({question.id for question in questions}) != len(questions):
        raise InvalidDecodingData(f"{str(file)!r}: two questions have one id; give each its own.")
    return questions


def training_calls(path: Path) -> list[GoldCall]:
    """The gold calls of `train.json` (or of that file in a folder).

    Raises:
        InvalidDecodingData: the file is missing, or is not what it should be.
    """
    file = path / "train.json" if path.is_dir() else path
    rows = read_json(file, expected="FuncQA's train.json")
    if not isinstance(rows, list):
        raise InvalidDecodingData(f"{str(file)!r} must be a list of rows, got {type(rows).__name__}.")
    texts = [text for row in rows if isinstance(row, Mapping) for text in row.get("tar_eq", ())]
    return [call for text in texts for call in gold_calls([text])]


def gold_calls(calls: Sequence[Any]) -> Iterator[GoldCall]:
    """Gold calls as either file writes them: `{name, args, result}`, `{raw: "-<log>(0.1)=1"}`, or that text alone."""
    for call in calls:
        if isinstance(call, Mapping) and "name" in call:
            arguments = tuple(str(argument).strip() for argument in call.get("args", ()))
            yield GoldCall(name=str(call["name"]), arguments=arguments, result=str(call.get("result", "")))
            continue
        text = str(call.get("raw", "")) if isinstance(call, Mapping) else str(call)
        for found in _CALL.finditer(text):
            yield GoldCall(
                name=found["name"],
                arguments=tuple(part.strip() for part in found["arguments"].split(",") if part.strip()),
                result=(found["result"] or "").strip(),
                negated=text[: found.start()].rstrip().endswith("-"),
            )


def _question(row: Any, where: str, number: int) -> FuncQuestion:
    if not isinstance(row, Mapping) or not isinstance(row.get("question"), str) or not row["question"].strip():
        raise InvalidDecodingData(f"{where}: it needs a 'question'; see {_EXPECTED}.")
    try:
        answer = float(str(row["answer"]).replace(",", ""))
    except (KeyError, ValueError):
        raise InvalidDecodingData(f"{where}: 'answer' must be a number, got {row.get('answer')!r}.") from None
    calls = tuple(gold_calls(row.get("calls", ())))
    return FuncQuestion(
        id=str(row.get("id", f"q-{number}")),
        question=" ".join(row["question"].split()),
        expected=answer,
        gold=tuple(call.name for call in calls),
        calls=calls,
    )
