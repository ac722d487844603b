"""The suite `rules`: in how many calls does the protocol of a fake tool state the rule that the tool hides?

Each rule's tools (`rules.yaml`) are probed alone, over real HTTP, from their names and argument names, writes allowed.
Then the protocols are made anew from the first calls alone, 1, 2, 3 …: the count is the first from which on all state
it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml

from benchmarks.local import Answer, Request, serving
from benchmarks.probing.runs import Options, Suite, run_probing
from benchmarks.probing.score import Row
from protocols.jsontypes import Json, JsonObject
from protocols.judge import violations
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from protocols.schema import validator


@cache
def rules() -> Mapping[str, Any]:
    """The rules by name."""
    listed = yaml.safe_load(Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8"))
    return {re.sub(r"\W+", "-", one["rule"]).strip("-"): one for one in listed}


def tool(fake: Mapping[str, Any], url: str) -> ToolProtocol:
    """What is known of a fake tool before probing: its name, its address and its arguments' names."""
    method, path, *names = fake["call"].split()
    arguments = [*re.findall(r"\{(\w+)\}", path), *(names[0].split(",") if names else [])]
    return ToolProtocol(
        name=re.sub(r"\W+", "_", f"{method.lower()}{path}").strip("_"),
        input_schema={"type": "object", "properties": {name: {} for name in arguments}},
        binding=HttpBinding(method=method, url=url + path),
        annotations=Annotations(read_only=True) if method == "GET" else Annotations(),
    )


def measure_rule(unit: str, options: Options) -> Row:
    """Probe one rule's tools and count."""
    rule = rules()[unit]

    def told(request: Request) -> Answer:
        status, body = answer(rule["tools"], request.method, request.target, request.body)
        plain = Answer(status, str(body).encode(), {"Content-Type": "text/plain"})
        return plain if isinstance(body, str) else Answer.json(body, status)

    with serving(told) as url:
        given = [tool(fake, url) for fake in rule["tools"]]
        folder = options.folder("rules", unit)
        probing = run_probing(given, folder, name="planted", writes=True, options=options)
    stated = [states(probing.after(n)[given[0].name], rule) for n in range(len(probing.samples) + 1)]
    calls = max((number + 1 for number, one in enumerate(stated) if not one), default=0) if stated[-1] else None
    return {"name": unit, "rule": rule["rule"], "calls": calls, "made": len(stated) - 1, "seconds": probing.seconds}


def states(protocol: ToolProtocol, rule: Mapping[str, Any]) -> bool:
    """Whether a protocol states a rule. Arguments that travel as text may be texts or numbers there."""
    if link := rule.get("link"):
        found = [one for one in protocol.links if one.support != "guessed"]
        return any(
            (one.argument, one.tool, one.path) == (link["argument"], link["tool"], link["path"]) for one in found
        )
    good, bad = rule["good"], rule["bad"]
    forms = [(good, bad), (_texts(good), _texts(bad))]
    return any(
        all(not violations(protocol.input_schema, one) for one in right)
        and all(violations(protocol.input_schema, one) for one in wrong)
        for right, wrong in forms
    )


def _texts(calls: Sequence[JsonObject]) -> list[JsonObject]:
    return [{n: str(v) if isinstance(v, int | float) else v for n, v in call.items()} for call in calls]


def answer(tools: Sequence[Mapping[str, Any]], method: str, target: str, body: bytes) -> tuple[int, Json]:
    """The status and the body with which fake tools answer a request."""
    found = urlsplit(target)
    for fake in tools:
        called, path, *_ = fake["call"].split()
        match = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path), found.path)
        if match is None or called != method:
            continue
        given: dict[str, Any] = {name: unquote(text) for name, text in match.groupdict().items()}
        given |= dict(parse_qsl(found.query, keep_blank_values=True)) | (json.loads(body) if body else {})
        for one in fake.get("refuses", ()):
            if not validator(one["unless"]).is_valid(given):
                text = json.dumps(one["body"])
                for name, value in given.items():
                    text = text.replace(f"{{{name}}}", json.dumps(str(value))[1:-1])
                return one["status"], json.loads(text)
        return 200, fake["answer"]
    return 404, "Not Found"


def _total(rows: Sequence[Row]) -> Row:
    stated = [row["calls"] for row in rows if row["calls"] is not None]
    return {
        "rules": len(rows),
        "stated": len(stated),
        "median": median(stated) if stated else None,
        "max": max(stated, default=None),
        "not_stated": ", ".join(row["name"] for row in rows if row["calls"] is None),
    }


SUITE = Suite(
    name="rules",
    units=lambda _: list(rules()),
    measure=measure_rule,
    total=_total,
)
