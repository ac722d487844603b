"""One query of AnyToolBench (A.8): a model explores, writes and solves; what it hands in is verified and filtered."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atc.retrieve import hierarchy as listing
from atc.retrieve.agents import FUNCTIONS, Agent, Function, Mistake, Options, Search, perform, schema
from atc.retrieve.asking import a_list, a_text, an_object, json_object, one_text
from atc.retrieve.hierarchy import spelled
from benchmarks.anytoolbench.pool import ApiPool, CallFailed
from benchmarks.anytoolbench.prompts import fill
from protocols.abridge import abridged, clipped
from protocols.ask import Ask, Message
from protocols.jsontypes import Json, JsonObject

EXPLORING = ("get_tools_in_category", "get_tool_descriptions", "get_APIs_in_tool", "get_API_detail")
KINDS = ("missing information", "fake parameters", "names an API", "unreasonable")
"""Why a query is no good: A.7's four kinds."""
_REPLY_TOKENS, _VERDICT_TOKENS = 1500, 300
_MOST_REPEATS = 3
"""Calls with the same result as before, in a row, after which the writing ends: it would go on so."""
_LONGEST_TEXT, _LINE, _LETTERS = 1500, 300, 3
_CODE = re.compile(r"\w[_/.]\w|[a-z][A-Z]")
"""What a name has that is spelled as no plain text is."""
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_FLAWS = {
    "missing information": re.compile(
        r"\{[^{}]{1,40}\}|<(?!https?:)[a-z][^<>@]{1,40}>|\[(?:your|my|the|insert|name|city|date)\b[^][]*\]|\bX{3,}\b"
        r"|\b(?:attached|enclosed|uploaded) (?:file|image|photo|picture|document|pdf)\b",
        re.IGNORECASE,
    ),
    "fake parameters": re.compile(
        r"\b[\w.-]*\b(?:example\.(?:com|org|net)|your-?(?:domain|website|site)\.\w+)|\b1234567\d*|\b555[ -]?01\d\d\b"
        r"|\babc-?123\w*",
        re.IGNORECASE,
    ),
    "names an API": re.compile(r"\b(?:use|using|via|through|call|query) (?:the )?(?:[\w.'-]+ ){1,4}(?:API|endpoint)\b"),
}
"""What a program can see of a query that is no good (A.7). What it cannot see is left to a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How queries are made: the paper's values (A.8, B.4), and those that it does not state."""

    explore: int = 20
    """Calls of the four functions that explore (B.4)."""
    words: int = 30
    """The shortest query (B.4)."""
    least_categories: int = 2
    most_categories: int = 5
    """Categories that the calls of a solution come from (B.4)."""
    turns: int = 40
    """Calls of all functions together; the paper bounds those that explore alone."""
    finishes: int = 3
    """Times that a query is handed in, each but the last told what is wrong with it by rule."""
    pool: int = 16
    """APIs in the pool at most."""
    calls: int = 10
    """Calls of a solution at most: as many as the paper's solver may make (A.1)."""
    temperature: float = 1.0
    """Of the writer; judge and filter are greedy."""
    seed: int = 0

    def chance(self, *purpose: object) -> random.Random:
        """Chance that is the same whenever the same thing is done."""
        return random.Random(" ".join(map(str, (self.seed, *purpose))))


class Refused(Mistake):
    """Why a query is not taken, as one of few kinds and in detail."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind, self.detail = kind, detail


@dataclass
class Query:
    """A query in the making, and what its writer may call: functions of the exploring agents, and its own.

    `solution` are the calls, made again, with their responses; empty until a query was taken.
    """

    pool: ApiPool
    search: Search
    agent: Agent
    settings: Settings
    text: str = ""
    answer: str = ""
    solution: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[Refused] = field(default_factory=list)
    explored: int = 0
    tested: int = 0
    transcript: list[str] = field(default_factory=list)

    def functions(self) -> dict[str, Function]:
        """What can be called now; a function that can do nothing takes None."""
        flat, pool = FUNCTIONS["flat"], self.search.pool
        held = list(pool) or [""]
        one_call = {"anyOf": [an_object({"api": {"enum": [api]}, "arguments": self.pool[api].schema}) for api in pool]}
        finishes = len(self.pool.categories(pool)) >= self.settings.least_categories
        text = a_text(_LONGEST_TEXT, least=1)
        solution = a_list(one_call, most=self.settings.calls, least=1)
        return {
            **({name: Function(flat[name].takes, self._explore(name)) for name in EXPLORING}),
            "add_API_into_API_pool": flat["add_API_into_API_pool"],
            "remove_API_from_API_pool": Function(
                lambda *_: {"apis": a_list({"enum": held}, most=len(held), least=1)} if pool else None, self._remove
            ),
            "test_API": Function(
                lambda *_: {"api": {"enum": held}, "arguments": {"type": "object"}} if pool else None, self._test
            ),
            "finish": Function(
                lambda *_: {"query": text, "solution": solution, "answer": text} if finishes else None, self._finish
            ),
        }

    def _explore(self, name: str) -> Any:
        def act(search: Search, agent: Agent, arguments: JsonObject) -> str:
            if self.explored >= self.settings.explore:
                raise Mistake(f"all {self.settings.explore} exploring calls are made; choose among what you have seen")
            self.explored += 1
            return FUNCTIONS["flat"][name].act(search, agent, arguments)

        return act

    def _remove(self, search: Search, _agent: Agent, arguments: JsonObject) -> str:
        gone = [self._in_pool(name) for name in arguments.get("apis") or ()]
        search.pool = [name for name in search.pool if name not in gone]
        return f"removed: {', '.join(gone)}\nthe pool holds {len(search.pool)} APIs"

    def _test(self, _search: Search, _agent: Agent, arguments: JsonObject) -> str:
        name, given = self._in_pool(arguments.get("api")), arguments.get("arguments")
        self.tested += 1
        try:
            response = self.pool[name].call(given if isinstance(given, dict) else {})
        except CallFailed as failed:
            raise Mistake(clipped(one_text(str(failed)), self._room)) from None
        return f"response: {abridged(response, most=self._room)}"

    def _finish(self, _search: Search, _agent: Agent, arguments: JsonObject) -> str:
        """Hand in a query: its calls are made again; what a rule sees is told, so that it can be mended."""
        query, answer, calls = (arguments.get(key) for key in ("query", "answer", "solution"))
        if not one_text(query) or not one_text(answer) or not isinstance(calls, list) or not calls:
            raise Mistake("'query' and 'answer' must be texts, and 'solution' a list of calls")
        planned = [
            (self._in_pool(one.get("api")), one.get("arguments") or {}) for one in calls if isinstance(one, dict)
        ]
        try:
            self.solution = list(verified(one_text(query), one_text(answer), planned, self.pool, self.settings))
        except Refused as refused:
            self.refusals.append(refused)
            raise
        self.text, self.answer = one_text(query), one_text(answer)
        return "handed in"

    def _in_pool(self, name: Json) -> str:
        found = spelled(name, self.search.pool) if isinstance(name, str) else None
        if found is None:
            pool = ", ".join(self.search.pool) or "nothing"
            raise Mistake(f"the pool has no API {clipped(repr(name), 80)}; it holds {pool}; add it first")
        return found

    @property
    def _room(self) -> int:
        return self.search.room.result * _LETTERS


def construct(pool: ApiPool, settings: Settings, number: int, ask: Ask) -> dict[str, Any]:
    """What became of the query `number`, which is made in the same way each time; `rejected` says why it is not taken.

    Raises:
        ModelUnavailable: the model did not answer; nothing of the query is kept.
    """
    names = list(pool.hierarchy.tools)
    settings.chance("categories", number).shuffle(names)  # a model likes what it reads first
    search = Search("", pool.hierarchy, ask, options=Options(pool=settings.pool))
    lines = listing.pages(listing.category_lines(names, pool.hierarchy), room=search.room.scope)[0]
    names = names[: len(lines)]
    agent = search.add_agent("flat", categories=tuple(names), places=pool.hierarchy.places(names))
    task = fill("write_task", categories="\n".join(lines), turns=str(settings.turns))
    limits = {"explore": settings.explore, "least": settings.least_categories, "most": settings.most_categories}
    rules = fill("write", words=str(settings.words), **{name: str(value) for name, value in limits.items()})
    agent.history = [Message("system", rules), Message("user", task)]
    query = Query(pool, search, agent, settings)
    _explore(query, number, ask)
    row: dict[str, Any] = {"turns": len(query.transcript), "explored": query.explored, "tested": query.tested}
    row["told"] = [[refused.kind, refused.detail] for refused in query.refusals]
    row["transcript"] = query.transcript
    try:
        if not query.solution:
            raise (query.refusals or [Refused("unfinished", "nothing was handed in")])[-1]
        apis = list(dict.fromkeys(call["api"] for call in query.solution))
        row |= {"query": query.text, "answer": query.answer, "gold": apis, "categories": pool.categories(apis)}
        row["solution"] = query.solution
        row["reason"] = judged(query.text, query.answer, query.solution, ask)
        screened(query.text, ask)
    except Refused as refused:
        row |= {"rejected": refused.kind, "detail": refused.detail}
    return row


def _explore(query: Query, number: int, ask: Ask) -> None:
    """Let the model call until a query is taken, or a bound is met."""
    settings, agent, repeats = query.settings, query.agent, 0
    while not query.solution and len(query.refusals) < settings.finishes and repeats < _MOST_REPEATS:
        if len(query.transcript) >= settings.turns:
            return
        functions = query.functions()
        reply = ask(
            agent.prompt(room=query.search.room.prompt),
            schema=schema(query.search, agent, functions),
            temperature=settings.temperature,
            seed=settings.chance("turn", number, len(query.transcript)).getrandbits(31),
            max_tokens=_REPLY_TOKENS,
        )
        call, result = perform(query.search, agent, reply.text, functions)
        repeats = repeats + 1 if agent.heard.get(call) == result else 0
        agent.heard[call] = result
        agent.history.append(Message("assistant", reply.text))
        agent.hear("the result is the same as before; make another call" if repeats else result)
        query.transcript.append(f"{clipped(call, _LINE)} → {clipped(one_text(result), _LINE)}")


def verified(
    query: str, answer: str, planned: Sequence[tuple[str, JsonObject]], pool: ApiPool, settings: Settings
) -> Iterator[dict[str, Any]]:
    """The calls of a solution, made anew in their order, with their responses. Raises Refused by a rule."""
    words = sum(any(map(str.isalnum, word)) for word in query.split())
    if words < settings.words:
        raise Refused("too short", f"the query has {words} words, and must have at least {settings.words}")
    categories = pool.categories(api for api, _ in planned)
    if not settings.least_categories <= len(categories) <= settings.most_categories or len(planned) > settings.calls:
        wanted = f"{settings.least_categories} to {settings.most_categories} categories, {settings.calls} calls at most"
        raise Refused("categories", f"{len(planned)} calls of {', '.join(categories)}; {wanted}, are wanted")
    if flaw := next(((kind, found[0]) for kind, rule in _FLAWS.items() if (found := rule.search(query))), None):
        raise Refused(*flaw)
    names = {
        part for name in pool for part in (name, name.rpartition("/")[2]) if re.search(r"\w[_/.]\w|[a-z][A-Z]", part)
    }
    if named := next((name for name in sorted(names) if name.casefold() in query.casefold()), ""):
        raise Refused("names an API", named)
    known, shared = query.casefold(), False
    for number, (api, arguments) in enumerate(planned, start=1):
        for name, value in arguments.items():
            telling = (isinstance(value, str) and len(value) > 2) or (isinstance(value, int) and value > 100)
            if telling and str(value).casefold() not in known:
                detail = f"{value!r} for {name!r} of {api!r} stands neither in the query nor in earlier responses"
                raise Refused("missing information", detail)
        try:
            response = pool[api].call(arguments)
        except CallFailed as failed:
            kind = "service failed" if failed.outage else "call failed"
            raise Refused(kind, f"call {number} of the solution, {api!r}: {failed}") from None
        values = list(_leaves(response))
        shared = shared or not values or any(_stands_in(value, answer) for value in values)
        known += "".join(f" {value}".casefold() for value in values)
        yield {"api": api, "arguments": arguments, "response": response}
    if not shared:
        raise Refused("unsupported answer", "no value of any response stands in the answer")


def _leaves(value: Json) -> Iterator[str | int | float]:
    """The texts and numbers of a response, and how many entries each list has: what an answer may count."""
    if isinstance(value, Mapping | list):
        if isinstance(value, list):
            yield len(value)
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield value


def _stands_in(value: str | float, text: str) -> bool:
    """Whether a text holds a value; a number may be rounded to as many places as are written."""
    if isinstance(value, str):
        return len(value.strip()) > 2 and value.strip().casefold() in text.casefold()
    written = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return any(round(abs(value), len(number.partition(".")[2])) == float(number) for number in written)


def judged(query: str, answer: str, solution: Sequence[Mapping[str, Any]], ask: Ask) -> str:
    """Why a solution resolves its query, as a model sees it (A.8). Raises Refused where it does not."""
    most = max(_LINE, ask.prompt_tokens * _LETTERS // 2 // max(1, len(solution)))  # responses share half of a prompt
    lines = []
    for number, call in enumerate(solution, start=1):
        given = clipped(", ".join(f"{name}={value!r}" for name, value in call["arguments"].items()), _LINE)
        lines.append(f"{number}. {one_text(call['api'])}({given}) → {abridged(call['response'], most=most)}")
    case = fill("judge_task", query=query, calls="\n".join(lines), answer=answer)
    word, reason = _verdict(ask, fill("judge"), case, ("resolved", "unresolved"))
    if word != "resolved":
        raise Refused(word or "unjudged", reason)
    return reason


def screened(query: str, ask: Ask) -> None:
    """The filter of A.7: a model reads what passes the rules. Raises Refused."""
    word, reason = _verdict(ask, fill("filter"), fill("filter_task", query=query), (*KINDS, "keep"))
    if word != "keep":
        raise Refused(word or "ungraded", reason)


def _verdict(ask: Ask, instructions: str, case: str, words: Iterable[str]) -> tuple[str, str]:
    """One of the words, empty where the reply has none of them, and the reason."""
    verdict = an_object({"reason": a_text(_LINE), "verdict": {"type": "string", "enum": list(words)}})
    messages = [Message("system", instructions), Message("user", case)]
    found = json_object(ask(messages, schema=verdict, max_tokens=_VERDICT_TOKENS).text)
    word = one_text(found.get("verdict")).casefold()
    return next((one for one in words if one.casefold() == word), ""), one_text(found.get("reason"))
