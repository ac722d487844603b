"""How `atc run` prints the end of a run."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from atc.core.types import Solution
from atc.store.stored import StoredRun
from tests.labs.paths import ROOT

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


@pytest.fixture
def run(atc_):
    """Run a program over one tool; return exit status, stdout and stderr."""
    Path("desk.py").write_text(
        'def look_up() -> int:\n    """Look it up.\n\n    read_only = True\n    """\n    return 1\n'
    )

    def run(program: str, *words: str) -> tuple[int, str, str]:
        Path("script.json").write_text(json.dumps([f"```python\n{program}\n```"] * 4))
        model = ("--model", "scripted:script.json", "--strategy", "chain")
        return atc_("run", "What?", "--tools", "desk.py", *model, *words)

    return run


@pytest.mark.parametrize(
    ("program", "answer"),
    [
        ("print({'n': [look_up(), None]})", {"n": [1, None]}),
        ("print('6')", "6"),
        ("print(6)", 6),
        ("import json\nprint(json.dumps([True]))", [True]),
    ],
)
def test_json_has_the_printed_object(run, atc_, program, answer):
    code, out, err = run(program, "--json")
    document = json.loads(out)
    assert (code, document["schema"], document["answer"]) == (0, 1, answer), err
    assert type(document["answer"]) is type(answer)
    for words in (("show", document["run_id"]), ("list",)):
        stored = json.loads(atc_("runs", *words, "--json")[1])
        assert (stored[0] if words == ("list",) else stored)["answer"] == answer


def test_every_key_of_the_json_is_documented():
    page = (ROOT / "docs/reference/json.md").read_text()
    missing = {key for kind in (Solution, StoredRun) for key in _keys(kind)}
    missing -= {*re.findall(r"`(\w+)`", page), "summary"}  # whose keys are those of the document
    assert not missing


def _keys(kind: Any) -> Iterator[str]:
    """Yield the keys of the JSON of a dataclass of `atc`, and of the dataclasses in it."""
    for inner in get_args(kind):
        yield from _keys(inner)
    if is_dataclass(kind) and kind.__module__.startswith(("atc.", "sandbox.", "protocols.model")):
        hints = get_type_hints(kind, include_extras=True)
        for field in fields(kind):
            yield field.name
            if field.name in ("protocols", "lease"):
                continue  # empty in this document, and only for atc itself
            yield from _keys(hints[field.name])
