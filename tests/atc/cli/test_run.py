"""`atc run`."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_folders", "shared_sandbox")


def test_the_answer_alone_is_printed(atc_) -> None:
    Path("script.json").write_text(json.dumps(["```python\nprint(6 * 7)\n```"]))
    Path("desk.py").write_text("def look() -> int:\n    return 1\n")
    words = (
        "run",
        "What?",
        "--tools",
        "desk.py",
        "--model",
        "scripted:script.json",
        "--strategy",
        "chain",
    )
    code, out, err = atc_(*words)
    assert (code, out) == (0, "42\n"), err
    Path("script.json").write_text(json.dumps(["```python\nprint(6 * 7)\n```"]))
    code, out, _ = atc_(*words, "--json")
    assert (code, json.loads(out)["answer"]) == (0, 42)


def test_rules_and_date_go_through_stored_runs(atc_) -> None:
    script = "```python\nimport datetime\nprint(datetime.date.today())\n```"
    Path("script.json").write_text(json.dumps([script]))
    Path("policy.md").write_text("Say the day first.")
    Path("desk.py").write_text("def look() -> int:\n    return 1\n")
    words = ("run", "Which day?", "--tools", "desk.py", "--model", "scripted:script.json")
    code, out, err = atc_(*words, "--rules", "policy.md", "--now", "2023-11-30")
    assert (code, out) == (0, "2023-11-30\n"), err
    shown = atc_("runs", "show", "last")[1]
    assert "Say the day first." in shown
    assert "2023-11-30T00:00" in shown
    Path("run.json").write_text(atc_("runs", "export", "last")[1])
    exported = json.loads(Path("run.json").read_text())
    assert exported["context"]["rules"] == "Say the day first."
    assert atc_("runs", "replay", "run.json")[0] == 0
    assert '<p class="said">Say the day first.</p>' in atc_("runs", "export", "last", "--html")[1]
    code, _, err = atc_(*words, "--rules", "polciy.md")
    assert (code, "polciy.md" in err) == (2, True), err
    code, _, err = atc_(*words, "--now", "yesterday")
    assert (code, "now must be a date" in err) == (2, True), err
