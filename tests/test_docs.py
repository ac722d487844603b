"""The documentation agrees with itself and with the code."""

import pkgutil
import re
import runpy
import sys
import tomllib
from dataclasses import fields
from types import ModuleType
from typing import get_args

import pytest
import yaml

from atc.agent import Agent
from atc.cli.errors import ERRORS
from atc.cli.main import VERBS
from atc.core import config
from atc.core.config import Config
from atc.core.types import FaultKind
from atc.models.scripted import ScriptedModel
from atc.strategies import registry
from protocols.documentation import SITE, docs_page
from protocols.sources import load_tools
from tests.labs.paths import ROOT, TESTS

pytestmark = pytest.mark.usefixtures("shared_sandbox")

DOCS = ROOT / "docs"
GENERATED = {
    DOCS / "reference/cli.md",
    DOCS / "reference/settings.md",
}  # made from the code before each build
PAGES = sorted({*DOCS.rglob("*.md"), *ROOT.glob("*.md")} - GENERATED)


def script(name):
    return runpy.run_path(str(ROOT / "scripts" / f"{name}.py"))


def headings(page):
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    plain = (
        re.sub(r"[^\w\s-]", "", line).strip().lower()
        for line in re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    )
    return {re.sub(r"[\s-]+", "-", heading) for heading in plain}


def dead(target, base):
    """Whether a link from the folder `base` leads nowhere."""
    path, _, heading = target.partition("#")
    page = (base / path).resolve()
    if page in GENERATED:
        return False
    return not page.exists() or bool(heading and heading not in headings(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_is_dead(page):
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in link]
    assert [
        link for link in links if dead(link if link[0] != "#" else page.name + link, page.parent)
    ] == []


def test_messages_lead_to_pages_that_there_are():
    packages = ("atc", "probing", "protocols", "sandbox", "toolflow_bench", "benchmarks")
    code = "\n".join(
        file.read_text() for package in packages for file in (ROOT / package).rglob("*.py")
    )
    named = [
        f"{path}.md{heading}"
        for path, heading in re.findall(r"docs_page\(['\"]([\w/]+)(#[\w-]+)?['\"]\)", code)
    ]
    named += re.findall(r"docs/([\w/]+\.md(?:#[\w-]+)?)", code)
    named += [
        docs_page(name).removeprefix(SITE).replace(".html", ".md")
        for name in (
            *(page for _, page in VERBS.values()),
            *(entry.page for entry in ERRORS.values() if entry.page),
        )
    ]
    assert [name for name in named if dead(name, DOCS)] == []


def test_the_package_names_the_site_of_messages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["urls"]["Documentation"] == SITE


def test_ci_makes_all_that_make_check_makes():
    targets = re.search(r"^check: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    steps = (
        (ROOT / ".ci/run")
        .read_text()
        .replace("python3 .ci/readme.py tests", (ROOT / "README.md").read_text())
    )
    assert [target for target in targets if f"make {target}" not in steps] == []


def test_the_site_has_every_page():
    def listed(part):
        return (
            [part]
            if isinstance(part, str)
            else [page for entry in part for one in entry.values() for page in listed(one)]
        )

    nav = listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    assert sorted(nav) == sorted(
        str(page.relative_to(DOCS)) for page in {*DOCS.rglob("*.md"), *GENERATED}
    )


def test_the_pictures_are_those_of_the_script():
    drawn = script("pictures")["pictures"]()
    assert {file.name: file.read_text() for file in (DOCS / "how/pictures").iterdir()} == drawn
    assert len(drawn) == 10


def test_the_reference_has_every_command_setting_and_fault():
    reference = script("reference")
    commands, settings = reference["command_page"](), reference["settings_page"]()
    assert {"## `atc run`", "## `atc bench run toolflow`", "## `atc runs resume`"} <= set(
        commands.splitlines()
    )
    assert [one.name for one in fields(Config) if f"| `{one.name}` |" not in settings] == []
    errors = (DOCS / "reference/errors.md").read_text()
    assert [kind for kind in get_args(FaultKind) if f"| `{kind}` |" not in errors] == []


def test_the_reference_of_python_names_what_exists():
    page = (DOCS / "reference/python.md").read_text()
    documented = re.findall(
        r"^::: ([\w.]+)(?:\n    options:\n      members: \[(.*)\])?", page, re.MULTILINE
    )
    missing = []
    for path, members in documented:
        found = pkgutil.resolve_name(path)
        missing += [
            f"{path}.{name}" for name in re.findall(r"\w+", members) if not hasattr(found, name)
        ]
    assert len(documented) > 10
    assert missing == []


def test_the_guides_strategy_works(monkeypatch):
    (code,) = re.findall(
        r'```python title="atc/strategies/once.py"\n(.*?)^```',
        (DOCS / "guides/strategy.md").read_text(),
        re.DOTALL | re.MULTILINE,
    )
    once = ModuleType("atc.strategies.once")
    exec(code, once.__dict__)
    monkeypatch.setitem(sys.modules, "atc.strategies.once", once)
    (row,) = re.findall(
        r"^Strategy\(\n.*?^\),$",
        (DOCS / "guides/strategy.md").read_text(),
        re.DOTALL | re.MULTILINE,
    )
    (entry,) = eval(row, vars(registry))
    monkeypatch.setattr(registry, "STRATEGIES", {**registry.STRATEGIES, "once": entry})
    monkeypatch.setitem(config._CHOICES, "strategy", ("strategy", (*config.STRATEGIES, "once")))

    def double(number: int) -> int:
        return 2 * number

    double.read_only = True
    replies = [
        "```python\nprint(double(number=21))\n```",
        "```python\nprint(double(nummer=[]))\n```",
    ]
    with Agent(
        load_tools(double), model=ScriptedModel(*replies), config=Config(strategy="once")
    ) as agent:
        assert agent.run("Twice 21?").answer == "42"
        failed = agent.run("Twice 21 again?")
    assert (failed.status, failed.repairs) == ("failed", 0)


def test_each_promise_of_security_names_tests_that_exist():
    text = (ROOT / "docs/how/security.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)`(?: \(all\)|: ((?:`\w+`(?:, )?)+))", text)
    known = {
        str(file.relative_to(TESTS)): file.read_text(encoding="utf-8")
        for file in TESTS.rglob("test_*.py")
    }
    promised = [(module, name) for module, names in named for name in re.findall(r"\w+", names)]
    missing = [
        f"{module}: {name}"
        for module, name in promised
        if f"def test_{name}(" not in known.get(module, "")
    ]
    missing += [module for module, names in named if not names and module not in known]
    assert len(promised) > 100
    assert not missing
