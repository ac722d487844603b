"""The suite `rules`: in how many calls does the protocol of a fake tool state the rule that the tool hides?

Each rule's tools (`rules.yaml`) are probed alone, over real HTTP, from their names and argument names, writes allowed.
Then the protocols are made anew from the first calls alone, 1, 2, 3 …: the count is the first from which on all state
it.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml

from benchmarks.probing.runs import Options, Suite, run_probing, unit_folder
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
    with serving(rule["tools"]) as url:
        given = [tool(fake, url) for fake in rule["tools"]]
        folder = unit_folder("rules", unit, options)
        probing = run_probing(given, folder, name="planted", writes=True, options=options)
    stated = []
    for last in range(len(probing.samples) + 1):
        numbers = {sample.number for sample in probing.samples[:last]}
        protocols = probing.after(lambda sample, numbers=numbers: sample.number in numbers)  # type: ignore[misc]
        stated.append(states(protocols[given[0].name], rule))
    calls = max((number + 1 for number, one in enumerate(stated) if not one), default=0) if stated[-1] else None
    answers = [f"{s.plain} → {s.status} {(s.answer or s.error)[:200]}" for s in probing.samples if not s.done][-4:]
    row = {"name": unit, "rule": rule["rule"], "calls": calls, "made": len(stated) - 1, "seconds": probing.seconds}
    return row if stated[-1] else {**row, "answers": answers}


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


@contextmanager
def serving(tools: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Serve fake tools on loopback; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def serve(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = answer(tools, self.command, self.path, sent)
            text = body if isinstance(body, str) else json.dumps(body)
            self.send_response(status)
            self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_POST = serve  # noqa: N815

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def _total(rows: Sequence[Row]) -> Row:
    stated = [row["calls"] for row in rows if row["calls"] is not None]
    return {
        "rules": len(rows),
        "stated": len(stated),
        "median": median(stated) if stated else None,
        "max": max(stated, default=None),
        "not_stated": [row["name"] for row in rows if row["calls"] is None],
    }


def _lines(rows: Sequence[Row], total: Row) -> list[str]:
    shown = [f"{row['name']:<50} {'not stated' if row['calls'] is None else row['calls']}" for row in rows]
    return [*shown, "", f"{total['stated']} of {total['rules']} stated, after {total['median']} calls in the median"]


SUITE = Suite(
    name="rules",
    summary="planted rules: after how many calls is each stated?",
    units=lambda _: list(rules()),
    measure=measure_rule,
    total=_total,
    lines=_lines,
)
