"""The suite `real`: services that others wrote, run here, probed with their own documents hidden.

Each runs as a process on loopback and is probed through a passage that answers 404 where it tells of itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import requests

from benchmarks.local import Answer, Request, serving
from benchmarks.probing.runs import Options, Probing, Suite, TruthLeaked, run_probing, strip, summed
from benchmarks.probing.score import Row, added, links_of, rate, score_tool, share
from benchmarks.probing.services import SERVICES, started
from probing.replies import refusal_in
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.sources.openapi import read_openapi

_FORBIDDEN = r"being told which|not told which|one record, which it would|ends what others"
_ONE_HOP = frozenset({"connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"})


class Passage:
    """Answers for the service on `port` and notes in `passed` the path and status of each request that it saw.

    `hides` are paths that are answered 404 without asking the service, and so is all below those that end in `/*`.
    """

    def __init__(self, port: int, hides: Collection[str]) -> None:
        self.port, self._hides, self.passed = port, frozenset(hides), list[tuple[str, int]]()

    def hides(self, path: str) -> bool:
        """Whether a request for this path is answered 404 here."""
        plain = path.rstrip("/") or "/"
        below = any(rule.endswith("/*") and f"{plain}/".startswith(rule[:-1]) for rule in self._hides)
        return plain in self._hides or below

    def answer(self, request: Request) -> Answer:
        """What the service says, or that nothing is there."""
        path = urlsplit(request.target).path
        if self.hides(path):
            return Answer(404, b"not found", {"Content-Type": "text/plain"})
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(
                request.method, request.target, body=request.body or None, headers=_kept(request.headers)
            )
            response = connection.getresponse()
            found = Answer(response.status, response.read(), _kept(response.headers))
        except (OSError, HTTPException) as error:
            found = Answer(502, f"the service gave no answer: {error}".encode(), {"Content-Type": "text/plain"})
        finally:
            connection.close()
        self.passed.append((path, found.status))
        return found


def _kept(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _ONE_HOP}


def measure_real(name: str, options: Options) -> Row:
    """Probe one service and score what came of it.

    Raises:
        SourceUnavailable: it does not start.
        TruthLeaked: it answered where it tells of itself.
    """
    service, folder = SERVICES[name], options.folder("real", name)
    with ExitStack() as stack:
        port = stack.enter_context(started(name, folder / "run"))
        passage = Passage(port, service["told"])
        url = stack.enter_context(serving(passage.answer))
        document = requests.get(f"http://127.0.0.1:{port}{service['document']}", timeout=60).json()
        tools = [tool for tool in _tools(name, document, url) if service["writes"] or not tool.writes]
        given = strip(tools)
        probing = run_probing(given, folder / "probing", name=name, writes=service["writes"], options=options)
        shown = [path for path, _ in passage.passed if passage.hides(path)]
        told = [url + path for path in service["told"] if not path.endswith("*")]
        shown += [where for where in told if requests.get(where, timeout=60).status_code != 404]
        if shown:
            raise TruthLeaked(f"{name} answered {', '.join(shown)}; its figures are worth nothing.")
    return row_of(name, probing, tools)


def row_of(name: str, probing: Probing, declared: Sequence[ToolProtocol]) -> Row:
    """Probed protocols against their own document."""
    told = {sample.tool for sample in probing.samples if sample.done and not refusal_in(sample.response)}
    # What must not be called is not told which record is meant, writes over a single one, or ends what others rest on.
    unsent = probing.stopped.keys() - {sample.tool for sample in probing.samples}
    whole = {tool.name for tool in declared if _takes_all(tool)}
    forbidden = sorted(tool for tool in unsent if tool in whole or re.search(_FORBIDDEN, probing.stopped[tool]))
    scores = {}
    for tool in declared:
        score = score_tool(probing.protocols.get(tool.name), tool)
        documented = bool(score["documented"]["right"]) and tool.name in told  # not where all it said were refusals
        callable_ = share([] if tool.name in forbidden else [documented])
        scores[tool.name] = score | {"documented": share([documented]), "documented_of_callable": callable_}
    row = {"name": name, "tools": len(declared), **added(list(scores.values()))}
    links = rate(links_of(probing.protocols.values()), ())
    return row | {"links": links, **probing.spent, "forbidden": ", ".join(forbidden)}


def _tools(name: str, document: Any, url: str) -> list[ToolProtocol]:
    told = SERVICES[name]["told"]
    protocols = read_openapi(document, where=f"the document of {name}", base_url=url)
    return [protocol for protocol in protocols if urlsplit(_http(protocol).url).path.rstrip("/") not in told]


def _takes_all(tool: ToolProtocol) -> bool:
    """Whether a tool takes a whole list away."""
    binding = tool.binding
    return isinstance(binding, HttpBinding) and binding.method == "DELETE" and not binding.url.endswith("}")


def _http(protocol: ToolProtocol) -> HttpBinding:
    assert isinstance(protocol.binding, HttpBinding)
    return protocol.binding


SUITE = Suite(
    name="real",
    units=lambda _: [n for n in SERVICES if "told" in SERVICES[n] and find_spec(n)],
    measure=measure_real,
    total=summed,
)
