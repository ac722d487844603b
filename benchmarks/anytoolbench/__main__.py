"""Generate queries that need APIs of several categories, with verified solutions (AnyTool, A.8).

The model explores APIs, tries some of them, and writes a query with a solution (a list of calls)
and the answer. The calls are made again. The answer must follow from their responses, and the query
must pass AnyTool's filter. Each line of the file is an accepted query, or a rejected one with the
reason. The same command continues an interrupted run.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from atc.cli.output import bar
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model, open_toolbox
from atc.core.prompts import fill_from
from atc.pipeline.retrieve import hierarchy as listing
from atc.pipeline.retrieve.agent_functions import FUNCTIONS, AgentFunction, perform, reply_schema
from atc.pipeline.retrieve.anytool import AgentSearch
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.hierarchy import Hierarchy, resolve_name
from atc.pipeline.retrieve.model_replies import (
    Tally,
    a_list,
    a_text,
    an_object,
    json_object,
    one_text,
)
from atc.pipeline.retrieve.search_agents import AnyToolOptions, Mistake, SearchAgent, SearchState
from benchmarks.runner import Rows, suite
from protocols.errors import AtcError, ToolError
from protocols.model import Ask, Message
from protocols.schema import Json, JsonObject
from protocols.toolbox import Tool, Toolbox
from protocols.truncate import abridge_value, clip_text
from sandbox.arguments import BadArguments, contract

EXPLORING = ("get_tools_in_category", "get_tool_descriptions", "get_APIs_in_tool", "get_API_detail")
KINDS = ("missing information", "fake parameters", "names an API", "unreasonable")
"""Reasons to reject a query: the four kinds of A.7."""
EXPLORE = 20
WORDS = 30
LEAST_CATEGORIES = 2
MOST_CATEGORIES = 5
CALLS = 10
"""Most calls of a solution, as for the solver (A.1).

Above: most exploring calls, least words of a query, and least and most categories of a solution
(all B.4).
"""
TURNS = 40
FINISHES = 3
POOL = 16
TEMPERATURE = 1.0
TRIES = 3
"""Attempts for each requested query.

Above: most turns, most submissions of a query, APIs in the pool, and the writer's temperature. None
of these is in the paper.
"""
_REPLY_TOKENS = 1500
_VERDICT_TOKENS = 300
_LONGEST_TEXT = 1500
_LINE = 300
_LETTERS = 3
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
fill = partial(fill_from, "benchmarks.anytoolbench.prompts")


class TooFewApis(AtcError):
    """The APIs belong to fewer than two categories, but a query needs several."""


class CallFailed(Exception):
    """A call returned no response. `outage` is True if the service failed, not the call."""

    def __init__(self, text: str, *, outage: bool = False) -> None:
        super().__init__(text)
        self.outage = outage


@dataclass(frozen=True)
class Api:
    """One API: its document, which names it here, and its tool."""

    document: ToolDocument
    tool: Tool

    def call(self, arguments: JsonObject) -> Json:
        """Call the API with arguments by their original names and return the response.

        Raises:
            CallFailed: the arguments are invalid, or the call failed.
        """
        aliases = {name: alias for alias, name in self.tool.arguments.items()}
        try:
            given = {aliases.get(name, name): value for name, value in arguments.items()}
            return self.tool.call(
                self.tool.original_arguments(contract(self.tool.protocol).accept(given))
            )
        except BadArguments as problem:
            raise CallFailed(str(problem)) from None
        except ToolError as error:
            outage = error.status is None or error.status == 429 or error.status >= 500
            raise CallFailed(str(error), outage=outage) from error


class ApiPool(dict[str, Api]):
    """APIs by the names of their documents.

    Raises:
        TooFewApis: they belong to fewer than two categories.
    """

    def __init__(self, apis: Iterable[Api]) -> None:
        super().__init__((api.document.name, api) for api in apis)
        self.hierarchy = Hierarchy.of({name: api.document for name, api in self.items()})
        places = self.hierarchy.places()
        self._categories = {
            name: place.category for place in places for name in self.hierarchy.apis([place])
        }
        if len(self.hierarchy.tools) < 2:
            raise TooFewApis(
                f"a query takes APIs of 2 categories at least, and the {len(self)} that can be "
                "called without writing "
                f"are of {len(self.hierarchy.tools)}; give more sources of tools."
            )

    def categories(self, names: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(self._categories[name] for name in names))


def pool_of(toolbox: Toolbox) -> ApiPool:
    """Return the pool of all tools that only read.

    A tool without category and collection belongs to a category named after its source.
    """
    apis = []
    for tool in toolbox.values():
        document = ToolDocument.of(tool)
        if not tool.protocol.writes:
            placed = document.category or document.collection
            apis.append(Api(document if placed else replace(document, category=tool.source), tool))
    return ApiPool(apis)


class QueryRefused(Mistake):
    """A query was rejected: `kind` is one of a few reasons, `detail` explains it."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class Query:
    """A query while the model writes it, and the functions that the model may call.

    `taken` is the accepted query with its answer and its solution, whose calls were made again;
    empty until then.
    """

    def __init__(self, pool: ApiPool, search: AgentSearch) -> None:
        self.pool = pool
        self.search = search
        self.explored = 0
        self.refusals: list[QueryRefused] = []
        self.taken: dict[str, Any] = {}

    def functions(self) -> dict[str, AgentFunction]:
        """Return the functions that the model can call now.

        A function that cannot do anything has None as parameters.
        """
        flat = FUNCTIONS["flat"]
        pool = self.search.pool
        held = list(pool) or [""]
        one_call = {"api": {"enum": held}, "arguments": {"type": "object"}}
        text = a_text(_LONGEST_TEXT, least=1)
        solution = a_list(an_object(one_call), most=CALLS, least=1)
        removed = {"apis": a_list({"enum": held}, most=len(held), least=1)}
        finished = {"query": text, "solution": solution, "answer": text}
        finishes = len(self.pool.categories(pool)) >= LEAST_CATEGORIES
        return {
            **{
                name: AgentFunction(flat[name].build_parameters, partial(self._explore, name))
                for name in EXPLORING
            },
            "add_API_into_API_pool": flat["add_API_into_API_pool"],
            "remove_API_from_API_pool": AgentFunction(
                lambda *_: removed if pool else None, self._remove
            ),
            "test_API": AgentFunction(lambda *_: one_call if pool else None, self._test),
            "finish": AgentFunction(lambda *_: finished if finishes else None, self._finish),
        }

    def _explore(
        self, name: str, search: SearchState, agent: SearchAgent, arguments: JsonObject
    ) -> str:
        if self.explored >= EXPLORE:
            raise Mistake(
                f"all {EXPLORE} exploring calls are made; choose among what you have seen"
            )
        self.explored += 1
        return FUNCTIONS["flat"][name].act(search, agent, arguments)

    def _remove(self, search: SearchState, _agent: SearchAgent, arguments: JsonObject) -> str:
        gone = [self._in_pool(name) for name in arguments.get("apis") or ()]
        search.pool = [name for name in search.pool if name not in gone]
        return f"removed: {', '.join(gone)}\nthe pool holds {len(search.pool)} APIs"

    def _test(self, search: SearchState, _agent: SearchAgent, arguments: JsonObject) -> str:
        name = self._in_pool(arguments.get("api"))
        given = arguments.get("arguments")
        room = search.room.result
        try:
            response = self.pool[name].call(given if isinstance(given, dict) else {})
        except CallFailed as failed:
            raise Mistake(clip_text(one_text(str(failed)), room * _LETTERS)) from None
        return f"response: {abridge_value(response, most=room * _LETTERS)}"

    def _finish(self, _search: SearchState, _agent: SearchAgent, arguments: JsonObject) -> str:
        """Submit a query.

        Its calls are made again, and a rejection is reported so that it can be fixed.
        """
        query = one_text(arguments.get("query"))
        answer = one_text(arguments.get("answer"))
        calls = arguments.get("solution")
        if not query or not answer or not isinstance(calls, list) or not calls:
            raise Mistake("'query' and 'answer' must be texts, and 'solution' a list of calls")
        made = [one for one in calls if isinstance(one, dict)]
        planned = [(self._in_pool(one.get("api")), one.get("arguments") or {}) for one in made]
        try:
            solution = list(verify_solution(query, answer, planned, self.pool))
        except QueryRefused as refused:
            self.refusals.append(refused)
            raise
        apis = list(dict.fromkeys(call["api"] for call in solution))
        about = {"gold": apis, "categories": self.pool.categories(apis), "solution": solution}
        self.taken = {"query": query, "answer": answer, **about}
        return "handed in"

    def _in_pool(self, name: Json) -> str:
        found = resolve_name(name, self.search.pool) if isinstance(name, str) else None
        if found is None:
            pool = ", ".join(self.search.pool) or "nothing"
            raise Mistake(
                f"the pool has no API {clip_text(repr(name), 80)}; it holds {pool}; add it first"
            )
        return found


def construct(pool: ApiPool, number: int, ask: Ask, *, seed: int = 0) -> dict[str, Any]:
    """Let the model write query `number` and return its row.

    It is reproducible. `rejected` holds the reason if the query was not accepted.
    """
    names = list(pool.hierarchy.tools)
    random.Random(f"{seed} categories {number}").shuffle(names)  # a model likes what it reads first
    search = AgentSearch("", pool.hierarchy, ask, options=AnyToolOptions(pool=POOL))
    lines = listing.pages(listing.category_lines(names, pool.hierarchy), room=search.room.scope)[0]
    names = names[: len(lines)]
    agent = search.add_agent("flat", categories=tuple(names), places=pool.hierarchy.places(names))
    most = str(MOST_CATEGORIES)
    least = str(LEAST_CATEGORIES)
    rules = fill("write", words=str(WORDS), explore=str(EXPLORE), least=least, most=most)
    task = fill("write_task", categories="\n".join(lines), turns=str(TURNS))
    agent.history = [Message("system", rules), Message("user", task)]
    query = Query(pool, search)
    row: dict[str, Any] = {"transcript": list(_explore(query, agent, f"{seed} turn {number}", ask))}
    row["told"] = [[refused.kind, refused.detail] for refused in query.refusals]
    try:
        if not query.taken:
            raise (query.refusals or [QueryRefused("unfinished", "nothing was handed in")])[-1]
        row |= query.taken
        row["reason"] = judge_solution(row["query"], row["answer"], row["solution"], ask)
        screen_query(row["query"], ask)
    except QueryRefused as refused:
        row |= {"rejected": refused.kind, "detail": refused.detail}
    return row


def _explore(query: Query, agent: SearchAgent, purpose: str, ask: Ask) -> Iterator[str]:
    """Let the model call functions until a query is accepted or a limit is reached.

    Yields a line for each call.
    """
    for turn in range(TURNS):
        if query.taken or len(query.refusals) >= FINISHES:
            return
        functions = query.functions()
        seed = random.Random(f"{purpose} {turn}").getrandbits(31)
        how: dict[str, Any] = {"schema": reply_schema(query.search, agent, functions), "seed": seed}
        messages = agent.prompt(room=query.search.room.prompt)
        reply = ask(messages, temperature=TEMPERATURE, max_tokens=_REPLY_TOKENS, **how)
        call, result = perform(query.search, agent, reply.text, functions)
        agent.history.append(Message("assistant", reply.text))
        agent.add_message(result)
        yield f"{clip_text(call, _LINE)} → {clip_text(one_text(result), _LINE)}"


Planned = Sequence[tuple[str, JsonObject]]  # calls of a solution: APIs with their arguments


def verify_solution(
    query: str, answer: str, planned: Planned, pool: ApiPool
) -> Iterator[dict[str, Any]]:
    """Make the calls of a solution again, in order, and yield each with its response.

    Raises:
        QueryRefused: the query or its solution breaks a rule.
    """
    words = sum(any(map(str.isalnum, word)) for word in query.split())
    if words < WORDS:
        raise QueryRefused(
            "too short", f"the query has {words} words, and must have at least {WORDS}"
        )
    categories = pool.categories(api for api, _ in planned)
    if not LEAST_CATEGORIES <= len(categories) <= MOST_CATEGORIES or len(planned) > CALLS:
        wanted = f"{LEAST_CATEGORIES} to {MOST_CATEGORIES} categories, {CALLS} calls at most"
        raise QueryRefused(
            "categories", f"{len(planned)} calls of {', '.join(categories)}; {wanted}, are wanted"
        )
    known = query.casefold()
    shared = False
    for number, (api, arguments) in enumerate(planned, start=1):
        for name, value in arguments.items():
            telling = (isinstance(value, str) and len(value) > 2) or (
                isinstance(value, int) and value > 100
            )
            if telling and str(value).casefold() not in known:
                detail = (
                    f"{value!r} for {name!r} of {api!r} stands neither in the query nor in "
                    "earlier responses"
                )
                raise QueryRefused("missing information", detail)
        try:
            response = pool[api].call(arguments)
        except CallFailed as failed:
            kind = "service failed" if failed.outage else "call failed"
            raise QueryRefused(kind, f"call {number} of the solution, {api!r}: {failed}") from None
        values = list(_leaves(response))
        shared = shared or not values or any(_is_in_text(value, answer) for value in values)
        known += "".join(f" {value}".casefold() for value in values)
        yield {"api": api, "arguments": arguments, "response": response}
    if not shared:
        raise QueryRefused("unsupported answer", "no value of any response stands in the answer")


def _leaves(value: Json) -> Iterator[str | int | float]:
    """Yield the texts and numbers of a response, and the length of each list."""
    if isinstance(value, Mapping | list):
        if isinstance(value, list):
            yield len(value)
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield value


def _is_in_text(value: str | float, text: str) -> bool:
    """Return True if `text` contains the value.

    A number may be rounded to the decimals in the text.
    """
    if isinstance(value, str):
        return len(value.strip()) > 2 and value.strip().casefold() in text.casefold()
    written = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return any(
        round(abs(value), len(number.partition(".")[2])) == float(number) for number in written
    )


def judge_solution(query: str, answer: str, solution: Sequence[Mapping[str, Any]], ask: Ask) -> str:
    """Ask the model if a solution resolves its query (A.8) and return its reason.

    Raises:
        QueryRefused: the model says that it does not.
    """
    most = max(
        _LINE, ask.prompt_tokens * _LETTERS // 2 // max(1, len(solution))
    )  # responses share half of a prompt
    lines = []
    for number, call in enumerate(solution, start=1):
        given = clip_text(
            ", ".join(f"{name}={value!r}" for name, value in call["arguments"].items()), _LINE
        )
        lines.append(
            f"{number}. {one_text(call['api'])}({given}) → "
            f"{abridge_value(call['response'], most=most)}"
        )
    case = fill("judge_task", query=query, calls="\n".join(lines), answer=answer)
    word, reason = _verdict(ask, fill("judge"), case, ("resolved", "unresolved"))
    if word != "resolved":
        raise QueryRefused(word or "unjudged", reason)
    return reason


def screen_query(query: str, ask: Ask) -> None:
    """Ask the model to check a query that passed the rules (the filter of A.7).

    Raises:
        QueryRefused: the model rejects it.
    """
    word, reason = _verdict(ask, fill("filter"), fill("filter_task", query=query), (*KINDS, "keep"))
    if word != "keep":
        raise QueryRefused(word or "ungraded", reason)


def _verdict(ask: Ask, instructions: str, case: str, words: Iterable[str]) -> tuple[str, str]:
    """Return the model's verdict, one of `words` (empty if the reply has none), and its reason."""
    verdict = an_object(
        {"reason": a_text(_LINE), "verdict": {"type": "string", "enum": list(words)}}
    )
    messages = [Message("system", instructions), Message("user", case)]
    found = json_object(ask(messages, schema=verdict, max_tokens=_VERDICT_TOKENS).text)
    word = one_text(found.get("verdict")).casefold()
    return next((one for one in words if one.casefold() == word), ""), one_text(found.get("reason"))


@suite
@click.option("--tools", multiple=True, metavar="SRC", help="Sources of tools; repeatable.")
@click.option(
    "--queries", type=click.IntRange(1), default=10, show_default=True, help="Queries wanted."
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--model", metavar="NAME")
def main(
    tools: tuple[str, ...], queries: int, out: Path, seed: int, model: str | None
) -> dict[str, Any]:
    config = load_config({"model": model, "tools": tools})
    with open_toolbox(config) as toolbox:
        ask = choose_model(config)
        rows = make_queries(pool_of(toolbox), ask, out, count=queries, seed=seed)
    return {"suite": "anytoolbench", "model": ask.name, "out": str(out), **figures(rows)}


def make_queries(
    pool: ApiPool, ask: Ask, out: Path, *, count: int, seed: int = 0
) -> list[dict[str, Any]]:
    """Generate until `out` has `count` accepted queries, or `TRIES` times as many were attempted.

    Return all rows.
    """
    header = {
        "format": "atc-anytoolbench-2",
        "data": f"{len(pool)} APIs",
        "model": ask.name,
        "seed": seed,
    }
    with Rows(out, header, key=("id",)) as file, bar("making", total=count) as watch:
        while (
            len(taken := accepted_queries(file.rows.values())) < count
            and len(file.rows) < TRIES * count
        ):
            watch(len(taken))
            tally = Tally(ask)
            number = len(file.rows)
            row = {"id": f"anytool-{seed}-{number:04}", **construct(pool, number, tally, seed=seed)}
            for one in taken if "rejected" not in row else ():
                if row["query"].casefold() == one["query"].casefold() or set(row["gold"]) == set(
                    one["gold"]
                ):
                    row |= {
                        "rejected": "repeated",
                        "detail": f"{one['id']} has the same text or takes the same APIs",
                    }
            file.append({**row, "usage": asdict(tally.usage)})
        return list(file.rows.values())


def accepted_queries(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of accepted queries."""
    return [row for row in rows if "rejected" not in row]


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Summarize the attempts.

    `rejected` counts reasons; `categories` counts queries by their number of categories.
    """
    taken = accepted_queries(rows)
    return {
        "attempts": len(rows),
        "queries": len(taken),
        "rejected": dict(
            sorted(Counter(row["rejected"] for row in rows if "rejected" in row).items())
        ),
        "categories": dict(sorted(Counter(str(len(row["categories"])) for row in taken).items())),
        "calls": sum(len(row["solution"]) for row in taken),
        **{
            key: sum(row["usage"][key] for row in rows)
            for key in ("model_calls", "input_tokens", "output_tokens")
        },
    }


if __name__ == "__main__":
    main()
