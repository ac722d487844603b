"""What a run costs the model: `python -m benchmarks.repair_order`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from atc.agent import Agent
from atc.config import Config
from benchmarks.runner import suite
from protocols.ask import Completion, Message, Powers
from protocols.protocol import Annotations, ToolProtocol
from protocols.render import token_estimate
from protocols.toolbox import Tool, Toolbox
from sandbox.zygote import ZygoteSandbox

PEOPLE = [{"id": f"p{n}", "name": name, "age": 30 + n} for n, name in enumerate(["Ada", "Grace", "Edsger"])]
_PERSON = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["id", "name", "age"],
}
_NOTE = {"type": "object", "properties": {"text": {"type": "string"}, "extra": {}}, "required": ["text", "extra"]}
_MARK = {"type": "object", "properties": {"mark": {"type": "string"}, "of": {"type": "string"}}, "required": ["mark"]}


@dataclass
class ByTurn:
    """A model that replies by the number of its own turns in view: a program each, or a piece where it writes pieces.

    The last reply stands for all turns after it.
    """

    programs: Sequence[str]
    pieces: Sequence[str]
    calls: int = 0
    tokens: int = 0
    name: str = "scripted by turn"
    prompt_tokens: int = 24_000
    powers: Powers = field(default_factory=Powers)

    def __call__(self, messages: Sequence[Message], **_: Any) -> Completion:
        """The reply of this turn."""
        grows = "piece by piece" in messages[0].content
        last = max(n for n, message in enumerate(messages) if message.role == "user" and "\nTask: " in message.content)
        turn = sum(message.role == "assistant" for message in messages[last:])
        replies = self.pieces if grows else self.programs
        text = f"```python\n{replies[min(turn, len(replies) - 1)]}\n```"
        read, wrote = sum(token_estimate(message.content) for message in messages), token_estimate(text)
        self.calls, self.tokens = self.calls + 1, self.tokens + read + wrote
        return Completion(text=text, model=self.name, input_tokens=read, output_tokens=wrote)


CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
_NO_PIECES = ("print('ANSWER:', None)",)


def toolbox(*, described: bool) -> Toolbox:
    """People, their notes, and marks, which are written."""
    people = {"type": "object", "properties": {"people": {"type": "array", "items": _PERSON}}, "required": ["people"]}
    note = {"text": "a note", "extra": {"rated": {"stars": 5}}}
    tools = [
        _tool("list_people", {}, people, lambda _: {"people": PEOPLE}),
        _tool("get_note", {"id": {"type": "string"}}, _NOTE, lambda _: note),
        _tool("add_mark", {"id": {"type": "string"}}, _MARK, lambda given: {"mark": f"m-{given['id']}"}, reads=False),
    ]
    if described:
        return Toolbox(tools)
    return Toolbox(replace(t, protocol=replace(t.protocol, output_schema=None)) for t in tools)


def _tool(
    name: str, parameters: Mapping[str, Any], output: Any, call: Callable[[Any], Any], *, reads: bool = True
) -> Tool:
    protocol = ToolProtocol(
        name=name,
        description=f"{name.replace('_', ' ').capitalize()}.",
        input_schema={"type": "object", "properties": dict(parameters), "required": list(parameters)},
        output_schema=output,
        annotations=Annotations(read_only=reads),
    )
    return Tool(protocol=protocol, call=call)


@suite
def main() -> dict[str, Any]:
    """What a run costs the model: calls and tokens of tasks with faults, doubts and undescribed responses.

    A row for each case: what the model was asked, and whether the answer is right. The replies are scripted by turn:
    which program comes depends on how much of a conversation the model is shown, so that an identical prompt gets an
    identical reply, as from a greedy model. Each strategy is `auto` with its own defaults.
    """
    found: list[dict[str, Any]] = []
    with ZygoteSandbox() as sandbox, tempfile.TemporaryDirectory() as folder:
        config = Config(allow_writes=("all",), state_dir=Path(folder), cache_dir=Path(folder))
        for case in CASES:
            model = ByTurn(case["programs"], case.get("pieces", _NO_PIECES))
            agent = Agent(toolbox(described=case.get("described", True)), model=model, sandbox=sandbox, config=config)
            solution = agent.run(case["task"], seed=0)
            row = {"point": case["point"], "case": case["about"], "model_calls": model.calls, "tokens": model.tokens}
            found.append(row | {"calls": solution.calls, "right": solution.answer == case["answer"]})
    total = {key: sum(row[key] for row in found) for key in ("model_calls", "tokens")}
    return {"suite": "repair_order", **total, "passed": all(row["right"] for row in found), "rows": found}


if __name__ == "__main__":
    main()
