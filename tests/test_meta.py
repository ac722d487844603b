"""The face of the package."""

import ast
import builtins
import functools
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import atc
from atc.agent import Agent
from tests.labs.paths import ROOT, TESTS

PACKAGES = ("atc", "protocols", "sandbox")
OF_GATEWAYS = {"LearnedSchemas", "Questions"}
"""What the command line and gateways give an agent, and nobody else."""


def exported() -> set[str]:
    return set(atc.__all__)


def documented_errors(text: str | None) -> set[str]:
    """The names that a docstring says are raised."""
    text = inspect.cleandoc(text or "")
    blocks = "\n".join(re.findall(r"^Raises:\n((?:    .*\n?)+)", text, re.MULTILINE))
    named = re.findall(r"^    ((?:\w+(?:, )?)+):", blocks, re.MULTILINE)
    named += re.findall(r"Raises `?([A-Z]\w+)`?", text)
    return {name for part in named for name in part.split(", ")}


def public_members(value: Any) -> list[Any]:
    """An exported function or class, and the methods and properties of a class that are documented."""
    if not inspect.isclass(value):
        return [value]
    ours = [base for base in value.__mro__ if base.__module__.partition(".")[0] in PACKAGES]
    return [
        value,
        *(
            member
            for base in ours
            for name, member in vars(base).items()
            if name[0] != "_" or name == "__call__"
        ),
    ]


def classes_of(annotation: str, names: dict[str, Any]) -> set[str]:
    """Our classes that an annotation names, also within the aliases that it names."""
    found, left = set(), [names[word] for word in re.findall(r"\w+", annotation) if word in names]
    while left:
        one = left.pop()
        left += [part for part in get_args(one) if not isinstance(part, list)]
        left += [part for inner in get_args(one) if isinstance(inner, list) for part in inner]
        if inspect.isclass(one) and one.__module__.partition(".")[0] in PACKAGES:
            found.add(one.__name__)
    return found


def test_all_is_sorted_and_every_name_is_there():
    assert sorted(atc.__all__) == atc.__all__
    assert all(getattr(getattr(atc, name), "__name__", name) == name for name in atc.__all__)
    assert sorted(name for names in atc._PLACES.values() for name in names) == atc.__all__


def test_what_is_documented_as_raised_is_exported():
    missing = {
        f"{name}: {error}"
        for name in atc.__all__
        for member in public_members(getattr(atc, name))
        for error in documented_errors(member.__doc__)
        if error not in exported() and not hasattr(builtins, error)
    }
    assert missing == set()
    assert {"Unsolved", "RunRefused"} <= {
        error for name in ("Solution", "Agent") for one in public_members(getattr(atc, name))
        for error in documented_errors(one.__doc__)
    }  # fmt: skip


def test_what_an_agent_is_given_is_exported():
    passed = set()
    for function in (
        Agent.__init__,
        Agent.run,
        Agent.arun,
        Agent.resume,
        Agent.execute,
        Agent.draft,
        atc.load_tools,
    ):
        function = inspect.unwrap(function)
        for parameter in inspect.signature(function).parameters.values():
            if isinstance(parameter.annotation, str):
                passed |= classes_of(parameter.annotation, function.__globals__)
    assert passed - exported() == OF_GATEWAYS
    assert {"Ask", "Question", "ToolCalled", "Toolbox", "RunStore"} <= passed


def test_the_reference_lists_exactly_the_public_names():
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    assert {
        path.rpartition(".")[2] for path in re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE)
    } == exported()
    own = (
        (ROOT / "docs/reference/errors.md")
        .read_text(encoding="utf-8")
        .partition("## From Python")[2]
    )
    assert set(re.findall(r"`([A-Z]\w+)`", own)) <= exported()
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    imported = {
        name.strip()
        for file in pages
        for names in re.findall(
            r"^from atc import (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE
        )
        for name in names.split(",")
    }
    assert imported <= exported()


def test_import_is_cheap_and_silent(tmp_path):
    heavy = ("openai", "requests", "numpy", "jsonschema_rs", "click")
    code = f"import atc, sys; print(sorted(set({heavy}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_an_import_against_the_layers_is_named(tmp_path):
    (tmp_path / "protocols.py").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", "import atc"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "atc needs its own 'protocols'" in done.stderr.splitlines()[-1]
    assert str(tmp_path / "protocols.py") in done.stderr


# --- tests are found by the name of their module

PRODUCT = ("atc", "protocols", "sandbox", "probing", "toolflow_bench")


@functools.cache
def imported_names(file: Path) -> set[str]:
    """The modules that a test file imports, and the names that it imports from them."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def public_definitions(module: Path) -> list[str]:
    """The public functions and classes of a module."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    body = ast.parse(module.read_text("utf-8")).body
    return [node.name for node in body if isinstance(node, kinds) and node.name[0] != "_"]


def has_functions(module: Path) -> bool:
    return any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
    )


def has_test_by_name(module: Path) -> bool:
    """Return True if a module's tests are found by its name.

    Either `test_<module>.py` stands in the same folder below `tests/`, or a test file of that
    folder imports the module or one of its public names. For a folder that is used through the
    functions of its package alone, `test_<folder>.py` tests all of its modules. A module that
    holds only data counts by its folder.
    """
    folder = module.relative_to(ROOT).parent
    mirrored = TESTS / folder
    if (mirrored / f"test_{module.stem}.py").exists():
        return True
    of_package = [mirrored / f"test_{folder.name}.py", mirrored.parent / f"test_{folder.name}.py"]
    names = set[str]().union(
        *(
            imported_names(file)
            for file in {*mirrored.glob("test_*.py"), *of_package}
            if file.exists()
        )
    )
    package = ".".join(folder.parts)
    own = {f"{package}.{name}" for name in public_definitions(module)}
    if f"{package}.{module.stem}" in names or own & names:
        return True
    if not has_functions(module):
        return mirrored.is_dir()
    is_leaf = not any(module.parent.glob("*/*.py"))
    offers = "import " in (module.parent / "__init__.py").read_text("utf-8")
    return is_leaf and offers and any(file.exists() for file in of_package)


def test_nine_of_ten_modules_have_tests_by_name():
    modules = [
        module
        for package in PRODUCT
        for module in (ROOT / package).rglob("*.py")
        if module.stem not in ("__init__", "__main__")
    ]
    missing = sorted(str(m.relative_to(ROOT)) for m in modules if not has_test_by_name(m))
    assert len(missing) <= 0.1 * len(modules), f"{len(missing)} of {len(modules)}: {missing}"


def test_names_of_tests_have_at_most_eight_words():
    names = [
        f"{file.relative_to(TESTS)}: {name}"
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(r"def test_(\w+)\(", file.read_text("utf-8"))
        if len(name.split("_")) > 8
    ]
    assert names == []
