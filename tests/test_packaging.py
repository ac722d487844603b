"""What the wheel and the image hold, and what publishes them."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from atc.cli.extras import EXTRAS
from tests.labs.paths import ROOT

PACKAGES = ("atc", "sandbox", "protocols", "probing", "toolflow_bench")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
NOT_IN_THE_IMAGE = {
    *("psycopg", "psycopg_pool", "ray"),  # the extra `scale`, which `all` leaves out
    "keyring",  # a container has no keyring
    "IPython",  # imported only within a notebook
}
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())


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
    assert top == set(PACKAGES)


def test_prompts_licence_and_types_are_inside(names):
    prompts = {
        str(path.relative_to(ROOT)) for path in (ROOT / "atc" / "core" / "prompts").glob("*.md")
    }
    assert prompts
    assert prompts <= set(names)
    assert all(f"{package}/py.typed" in names for package in PACKAGES)
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


# --- the image


def installed_by(extras):
    """The names of all distributions that the package installs with some of its extras."""
    left = [Requirement(f"{PROJECT['name']}[{','.join(extras)}]")]
    seen = set()
    while left:
        one = left.pop()
        if (one.name, *sorted(one.extras)) in seen:
            continue
        seen.add((one.name, *sorted(one.extras)))
        left += own_requirements(one) if one.name == PROJECT["name"] else requirements_of(one)
    return {normal(name) for name, *_ in seen}


def own_requirements(one):
    optional = PROJECT["optional-dependencies"]
    named = [text for extra in one.extras for text in optional[extra]]
    return [Requirement(text) for text in (*PROJECT["dependencies"], *named)]


def requirements_of(one):
    found = [Requirement(text) for text in requires(one.name) or ()]
    return [
        each
        for each in found
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in (one.extras or {""}))
    ]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def imported_modules():
    """The top-level modules that the five packages import anywhere, also within functions."""
    found = set()
    for file in (file for package in PACKAGES for file in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found


def test_the_image_installs_what_each_verb_imports():
    (extras,) = re.findall(r'pip install .*"\.\[([\w,]+)\]"', DOCKERFILE)
    there = installed_by(extras.split(","))
    by_name = packages_distributions()
    in_extras = {module for modules in EXTRAS.values() for module in modules}
    foreign = {module.partition(".")[0] for module in imported_modules() | in_extras}
    foreign -= {*sys.stdlib_module_names, *PACKAGES, *NOT_IN_THE_IMAGE}
    assert len(foreign) > 30
    missing = {
        module
        for module in foreign
        if not there & {normal(name) for name in by_name.get(module, ())}
    }
    assert missing == set()


def test_the_image_runs_as_a_user():
    last = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    assert re.findall(r"^USER (\w+)$", last, re.MULTILINE) == ["atc"]
    assert "useradd --create-home atc" in last


# --- the release


def test_every_supported_python_is_tested_by_the_release():
    classifiers = "\n".join(PROJECT["classifiers"])
    supported = re.findall(r"Python :: (3\.\d+)$", classifiers, re.MULTILINE)
    setup = next(
        step
        for step in WORKFLOW["jobs"]["test"]["steps"]
        if "python-version" in step.get("with", {})
    )
    assert sorted(setup["with"]["python-version"].split()) == sorted(supported)


def test_only_the_publishing_job_may_prove_its_identity():
    jobs = WORKFLOW["jobs"]
    assert WORKFLOW["permissions"] == {}
    assert {name for name, job in jobs.items() if "id-token" in job["permissions"]} == {"publish"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"] == "pypi"
    assert not any("run" in step for step in jobs["publish"]["steps"])  # runs nothing of ours
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text()


def test_the_release_publishes_only_what_was_tested():
    jobs = WORKFLOW["jobs"]
    needed, left = set(), ["publish"]
    while left:
        before = jobs[left.pop()].get("needs", [])
        left += [before] if isinstance(before, str) else before
        needed |= set(left)
    assert needed == set(jobs) - {"publish"}
    assert jobs["publish"]["if"] == "github.event_name == 'push'"


def test_the_release_runs_scripts_that_there_are():
    steps = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    scripts = [step["run"].split()[0] for step in steps if "run" in step]
    assert scripts
    assert [name for name in scripts if name != "docker" and not (ROOT / name).is_file()] == []
    pinned = re.compile(r"[\w.-]+/[\w./-]+@(v\d+|release/v\d+|[0-9a-f]{40})")
    assert [
        one["uses"] for one in steps if "uses" in one and not pinned.fullmatch(one["uses"])
    ] == []
