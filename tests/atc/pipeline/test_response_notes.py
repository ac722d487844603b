"""What a run says of pages and headers that its program did not read."""

from __future__ import annotations

import pytest

from atc.agent import Agent
from atc.core.config import Config
from protocols.client import Invoker
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.loopback import Reply, http_tool, serving
from tests.labs.tools import writing


@pytest.fixture
def solve(sandbox):
    """Solves a task by programs over one tool, which answers over HTTP with `reply`."""

    def run(reply, *programs, task="How many?", method="GET", **how):
        with serving(lambda _: reply) as service, Invoker() as invoker:
            protocol = http_tool(
                service.url, method, name="items", read_only=method == "GET", **how
            )
            tools = Toolbox([Tool(protocol, invoker.bind(protocol))])
            model = writing(*programs)
            config = Config(strategy="chain", max_repairs=len(programs) - 1)
            given = {"config": config, "allow_writes": ("all",)}
            with Agent(tools, model=model, sandbox=sandbox, **given) as agent:
                return agent.run(task), model, service.seen

    return run


ROWS = [{"name": f"item {number}", "id": number} for number in range(10)]


def test_the_first_rows_get_a_note(solve):
    """No request for the next page, and the answer counts."""
    reply = Reply(200, {"rows": ROWS, "page": 1, "pages": 13})
    solution, _, seen = solve(
        reply, "print(items()['rows'][0]['name'])", properties={"page": {"type": "integer"}}
    )
    assert (solution.status, solution.answer, len(seen)) == ("solved", "item 0", 1)
    assert solution.notes == ("items: more rows are there than the program read (page 1 of 13).",)


def test_a_page_elsewhere_makes_the_answer_doubtful(solve):
    reply = Reply(200, ROWS, {"Link": "<http://elsewhere.example/?page=2>; rel=next"})
    solution, model, seen = solve(reply, "print(len(items()))", "SAME")
    assert (solution.answer, len(seen)) == ("10", 1)
    assert "another origin" in model.prompts[1][-1].content


def test_a_location_without_a_body_is_named(solve):
    """In a note if the program went on, and in the fault if it did not."""
    reply = Reply(201, b"", {"Location": "/items/77"})
    solution, _, _ = solve(reply, "items()\nprint('done')", method="POST")
    assert "Its header 'location' is '/items/77'" in " ".join(solution.notes)
    failed, _, _ = solve(reply, "print(items()['id'])", method="POST")
    facts = [fact.text for fact in failed.attempts[-1].fault.evidence]
    assert any("with_headers(items, …)" in fact for fact in facts), facts


@pytest.mark.parametrize(
    ("headers", "body", "named"),
    [
        ({"Operation-Location": "/jobs/5"}, b"", "/jobs/5"),
        ({"X-Deleted-Count": "4", "X-Request-Id": "r1"}, b"", "'x-deleted-count' is '4';"),
        ({"X-Request-Id": "r1", "X-Account-Id": "a", "ETag": "e"}, b"", ""),
        ({"Location": "/items/77"}, {"status": "queued"}, "/items/77"),
        ({"Location": "/items/77"}, {"id": 77}, ""),
    ],
)
def test_headers_that_have_the_result_are_named(solve, headers, body, named):
    solution, _, _ = solve(Reply(201, body, headers), "items()\nprint('done')", method="POST")
    assert named in " ".join(solution.notes)
    assert bool(solution.notes) == bool(named)
