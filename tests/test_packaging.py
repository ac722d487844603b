"""What the wheel holds."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.labs.paths import ROOT


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    pytest.importorskip("hatchling", reason="the build backend is not installed")
    out = tmp_path_factory.mktemp("dist")
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(out),
        str(ROOT),
    ]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(next(out.glob("*.whl"))) as wheel:
        return wheel.namelist()


def test_the_top_level_is_exactly_the_five_packages(names):
    top = {name.split("/")[0] for name in names if ".dist-info" not in name}
    assert top == {"atc", "sandbox", "protocols", "probing", "toolflow_bench"}


def test_prompts_licence_and_types_are_inside(names):
    prompts = {
        str(path.relative_to(ROOT)) for path in (ROOT / "atc" / "core" / "prompts").glob("*.md")
    }
    assert prompts
    assert prompts <= set(names)
    assert all(
        f"{package}/py.typed" in names
        for package in ("atc", "sandbox", "protocols", "probing", "toolflow_bench")
    )
    assert "protocols/protocol.schema.json" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_no_data_and_no_model_is_inside(names):
    assert [name for name in names if name.endswith((".gguf", ".sqlite", ".bin", ".pkl"))] == []


def test_no_gold_program_is_inside(names):
    tasks = sorted(Path("toolflow_bench/tasks").glob("*.jsonl"))
    assert {str(path) for path in tasks} <= set(names)
    assert not any('"program"' in path.read_text() for path in tasks)
    assert [name for name in names if "/recipes/" in name or name.endswith("gold.jsonl")] == []
    research = {
        "decoding",
        "retrieval",
        "probing",
        "restbench",
        "sandboxes",
        "blame",
        "mutants",
        "kills",
        "injection",
    }
    assert (
        not {name.split("/")[1] for name in names if name.startswith("toolflow_bench/")} & research
    )
