"""Generate queries that need APIs of several categories, as §A.8 of the AnyTool paper does.

A model explores the APIs, tries some of them, and submits a query with its solution (a list of
calls) and its answer. The benchmark makes these calls again. The query is accepted if the answer
follows from the responses and the query passes AnyTool's filter. Each line of the output file is an
accepted query, or a rejected one with the reason. Run the same command again to continue an
interrupted run.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click

from atc.cli.output import bar
from atc.cli.wiring import choose_model, open_toolbox
from atc.pipeline.retrieve import hierarchy as listing
from atc.pipeline.retrieve.agent_functions import FUNCTIONS, AgentFunction, perform, reply_schema
from atc.pipeline.retrieve.anytool import AgentSearch
from atc.pipeline.retrieve.hierarchy import resolve_name
from atc.pipeline.retrieve.model_replies import Tally, a_list, a_text, an_object, one_text
from atc.pipeline.retrieve.search_agents import AnyToolOptions, Mistake, SearchAgent, SearchState
from atc.settings.reading import load_config
from benchmarks.anytoolbench.pool import ApiPool, CallFailed, pool_of
from benchmarks.anytoolbench.verdicts import (
    CALLS,
    LEAST_CATEGORIES,
    LETTERS_PER_TOKEN,
    LINE,
    MOST_CATEGORIES,
    WORDS,
    QueryRefused,
    fill,
    judge_solution,
    screen_query,
    verify_solution,
)
from benchmarks.runner import Rows, suite, sum_usage
from protocols.model import Ask, Message
from protocols.schema import Json, JsonObject
from protocols.truncate import abridge_value, clip_text

EXPLORING = ("get_tools_in_category", "get_tool_descriptions", "get_APIs_in_tool", "get_API_detail")
EXPLORE = 20
"""Maximum number of calls by which the model explores the APIs (§B.4 of the AnyTool paper)."""
TURNS = 40
"""Maximum number of turns of the model. This and the following limits are not in the paper."""
FINISHES = 3
"""Maximum number of times that the model may submit a query before it must stop."""
POOL = 16
"""Maximum number of APIs that the model may collect for one query."""
TEMPERATURE = 1.0
TRIES = 3
"""Maximum number of attempts for each query that the user asked for."""
_REPLY_TOKENS = 1500
_LONGEST_TEXT = 1500


class Query:
    """A query that the model is writing, with the functions that the model may call meanwhile.

    `taken` is empty until a submitted query is accepted. Then it has the query, its answer and its
    solution: the calls with the responses that the benchmark got.
    """

    def __init__(self, pool: ApiPool, search: AgentSearch) -> None:
        self.pool = pool
        self.search = search
        self.explored = 0
        self.refusals: list[QueryRefused] = []
        self.taken: dict[str, Any] = {}

    def functions(self) -> dict[str, AgentFunction]:
        """Return the functions that the model can call now.

        A function that would have no effect now is listed with None as its parameters.
        """
        flat = FUNCTIONS["flat"]
        pool = self.search.pool
        names = list(pool) or [""]
        one_call = {"api": {"enum": names}, "arguments": {"type": "object"}}
        text = a_text(_LONGEST_TEXT, least=1)
        solution = a_list(an_object(one_call), most=CALLS, least=1)
        removed = {"apis": a_list({"enum": names}, most=len(names), least=1)}
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
            raise Mistake(clip_text(one_text(str(failed)), room * LETTERS_PER_TOKEN)) from None
        return f"response: {abridge_value(response, most=room * LETTERS_PER_TOKEN)}"

    def _finish(self, _search: SearchState, _agent: SearchAgent, arguments: JsonObject) -> str:
        """Accept the model's query, or raise an exception with the reason why it is rejected.

        The calls of the solution are made again. The model gets the reason and may fix the query.
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
    """Let the model write query `number` and return a row for the output file.

    If the model is deterministic, the same seed and number give the same row. If the query is not
    accepted, the row has the reason under `rejected`.
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

    Yields one line of text for each call: the call and its result.
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
        yield f"{clip_text(call, LINE)} → {clip_text(one_text(result), LINE)}"


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
    """Generate queries until the file `out` has `count` accepted ones, and return all its rows.

    Stops after `TRIES * count` attempts. The rows include rejected queries.
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
            if "rejected" not in row and (earlier := _find_repeated(row, taken)):
                detail = f"{earlier['id']} has the same text or takes the same APIs"
                row |= {"rejected": "repeated", "detail": detail}
            file.append({**row, "usage": asdict(tally.usage)})
        return list(file.rows.values())


def _find_repeated(
    row: Mapping[str, Any], earlier: Iterable[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return the last earlier query with the same text or the same APIs as a new one, or None."""
    repeated = None
    for one in earlier:
        same_text = row["query"].casefold() == one["query"].casefold()
        if same_text or set(row["gold"]) == set(one["gold"]):
            repeated = one
    return repeated


def accepted_queries(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those rows of the output file that contain an accepted query."""
    return [row for row in rows if "rejected" not in row]


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the summary of all attempts to generate a query.

    `rejected` has the number of queries for each reason of rejection, `categories` the number of
    accepted queries for each number of categories.
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
        **sum_usage(rows),
    }


if __name__ == "__main__":
    main()
