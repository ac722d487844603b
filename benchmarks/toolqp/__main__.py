"""Generate conversations that teach a model to plan and to search for tools (ToolQP, Algorithm 1).

Each line of the file is a conversation for supervised training. The same command continues an
interrupted run. To train a planner by rewards, begin with `planner_prompt(task)`, answer its plan
with `BEGIN` and each of its at most ten queries with `results`; then `reward` scores the whole
conversation (RLVR, Appendix C.4):

    R = 5.0 ΔnDCG@5 + 2.5 ΔRecall@5 + 1.5 (well-formed turns / turns) + 0.6 (ends with <stop_retrieval>)
      + 1.0 cos(plan, reference plan), both Δ against the base's own result for the task with its plan
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import click

from atc.cli.settings import load_config
from atc.cli.wiring import choose_model
from atc.core.prompts import fill_from
from atc.pipeline.retrieve.base import Embedder, Hit, Retriever
from atc.pipeline.retrieve.document import ToolDocument, json_text
from atc.pipeline.retrieve.embed import choose_embedder
from atc.pipeline.retrieve.factory import Setup, build
from atc.pipeline.retrieve.fuse import peak_rank
from atc.pipeline.retrieve.index import ToolIndex
from atc.pipeline.retrieve.model_replies import (
    Tally,
    a_text,
    an_object,
    json_object,
    one_text,
    texts,
)
from atc.pipeline.retrieve.toolqp import QueryCache, format_found_tools
from benchmarks.retrieval.data import RetrievalQuery, load_data, ndcg, recall
from benchmarks.runner import Rows, draw_sample, suite
from protocols.model import Ask, Message
from protocols.private_files import write_whole
from protocols.truncate import clip_text

MOST_QUERIES = 10  # the longest trajectory, in queries: a planner may write no more (C.4)
SHOWN = 5  # tools of a result that the conversation shows (C.3)
WEIGHTS: Mapping[str, float] = {"ndcg": 5.0, "recall": 2.5, "form": 1.5, "stop": 0.6, "plan": 1.0}
"""The β's of Appendix C.4."""
STOP = "<stop_retrieval>"
BEGIN = "Begin retrieval."
fill = partial(fill_from, "benchmarks.toolqp.prompts")
_PLAN = re.compile(
    r"<task_breakdown>(.+?)</task_breakdown>\s*<sub_goals>(.*?)</sub_goals>", re.DOTALL
)
_QUERY = re.compile(r"<query>(.*?)</query>", re.DOTALL)


def planner_prompt(task: str) -> list[Message]:
    """Return the messages before a planner's first turn."""
    return [Message("system", fill("planner")), Message("user", f"User query: {task}")]


def plan_text(breakdown: str, sub_goals: Sequence[str]) -> str:
    goals = json.dumps(list(sub_goals), ensure_ascii=False)
    return f"<task_breakdown>\n{breakdown}\n</task_breakdown>\n<sub_goals>\n{goals}\n</sub_goals>"


def query_text(query: str) -> str:
    return f"<query>{query}</query>"


def results(found: Sequence[Hit], documents: Mapping[str, ToolDocument]) -> Message:
    """Build the message that shows the planner the best tools found by its query."""
    return Message(
        "user",
        "System retrieved tools for previous query:\n"
        + format_found_tools(found[:SHOWN], documents),
    )


def parse_plan(turn: str) -> str:
    """Return the breakdown of a first turn; empty if the turn is malformed."""
    found = _PLAN.fullmatch(turn.strip())
    try:
        goals = json.loads(found[2], strict=False) if found else None
    except (ValueError, RecursionError):
        return ""
    return (
        " ".join(found[1].split())
        if found and isinstance(goals, list) and len(texts(goals)) == len(goals)
        else ""
    )


def read_query(turn: str) -> str:
    """Return the query of a later turn; empty if it has none."""
    found = _QUERY.search(turn)
    return " ".join(found[1].split()) if found else ""


def well_formed(number: int, turn: str) -> bool:
    """Return True if turn `number` is well-formed: first a plan, then queries or the end."""
    if number == 0:
        return bool(parse_plan(turn))
    return turn.strip() == STOP or (
        bool(read_query(turn)) and _QUERY.fullmatch(turn.strip()) is not None
    )


def reward(
    conversation: Sequence[Message],
    *,
    task: str,
    gold: Collection[str],
    plan: str,
    base: Retriever,
    embedder: Embedder,
) -> dict[str, float]:
    """Return the parts of a rollout's reward before the weights, and the weighted `total`.

    Missing turns earn nothing. `conversation` has all turns of the planner, from the plan on.
    `gold` are the tools that `task` needs, `plan` is its reference plan. The ranking is `ToolQP`'s
    over the task's query and the planner's first ten.
    """
    turns = [message.content for message in conversation if message.role == "assistant"]
    found = QueryCache(base, depth=20)
    for query in (task, *filter(None, map(read_query, turns[1 : MOST_QUERIES + 1]))):
        found.find_hits(query)
    ranking = [hit.tool for hit in peak_rank(found.lists)]
    baseline = [hit.tool for hit in base.search(f"{task} {plan}", k=5).hits]
    vectors = embedder.embed([parse_plan(turns[0]) if turns else "", plan])
    parts = {
        "ndcg": ndcg(ranking, gold, 5) - ndcg(baseline, gold, 5),
        "recall": recall(ranking, gold, 5) - recall(baseline, gold, 5),
        "form": sum(map(well_formed, count(), turns)) / len(turns) if turns else 0.0,
        "stop": float(
            bool(turns) and turns[-1].strip().endswith(STOP) and not read_query(turns[-1])
        ),
        "plan": float(vectors[0] @ vectors[1]),
    }
    return parts | {"total": sum(WEIGHTS[name] * value for name, value in parts.items())}


ROUNDS = 5  # rounds for one sub-task, each with more told about its tools; then there is no more to tell (Figure 15)
THRESHOLD = (
    5  # a query is valid where the mean rank of the sub-task's tools is no worse than this (C.2)
)
KEEP_FAILED = 0.4  # probability that the queries which failed before the valid one stay in the trajectory (C.2)
TEMPERATURE = 1.0  # of the teacher's queries; plans and sub-goals are greedy. The paper took the endpoint's default.
DEPTH = 100  # tools of a result in which a target's rank is looked for; one that is not among them has the rank behind
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


Tools = Mapping[str, ToolDocument]


class UnusableRequest(Exception):
    """No trajectory can be made of a request; the message says why."""


def hide_tool_names(text: str, tools: Iterable[str]) -> str:
    """Replace the names of `tools` in `text` by "this tool".

    Names split into words are replaced, too (`WeatherTool`, `weather tool`).
    """
    for name in tools:
        parts = r"[\W_]*".join(map(re.escape, _PART.findall(name))) or re.escape(name)
        text = re.sub(
            rf"(?<!\w)(?:{re.escape(name)}|{parts})(?!\w)", "this tool", text, flags=re.IGNORECASE
        )
    return text


class TrajectoryMaker:
    """Makes the trajectory of one request.

    The best of `candidates` queries counts in each round.
    """

    def __init__(
        self,
        query: RetrievalQuery,
        ask: Ask,
        base: Retriever,
        documents: Tools,
        *,
        candidates: int = 3,
        seed: int = 0,
    ) -> None:
        self._query = query
        self._ask = ask
        self._documents = documents
        self._candidates = candidates
        self._seed = seed
        self._found = QueryCache(base, depth=DEPTH)

    def make(self) -> dict[str, Any]:
        """Return the conversation from which a planner learns to search (Figure 7).

        Raises:
            UnusableRequest: a step failed.
        """
        query = self._query
        plan = self._query.plan or self._plan()
        steps: list[dict[str, Any]] = []
        for goal, tools in self._sub_tasks(plan).items():
            steps.append(self._step(plan, goal, tools, steps))
        if sum(len(step["shown"]) for step in steps) > MOST_QUERIES:
            steps = [{**step, "kept": False, "shown": step["shown"][-1:]} for step in steps]
        if len(steps) > MOST_QUERIES:
            raise UnusableRequest("too many queries")
        messages = [
            *planner_prompt(query.text),
            Message("assistant", plan_text(plan, [step["goal"] for step in steps])),
        ]
        messages.append(Message("user", BEGIN))
        for text, found in (shown for step in steps for shown in step.pop("shown")):
            messages += [Message("assistant", query_text(text)), results(found, self._documents)]
        messages.append(Message("assistant", STOP))
        turns = [{"role": message.role, "content": message.content} for message in messages]
        return {
            "messages": turns,
            "query": query.text,
            "plan": plan,
            "gold": list(query.gold),
            "steps": steps,
        }

    def _plan(self) -> str:
        """Let the model write the request's plan (Shi et al.'s instruction)."""
        listed = "\n".join(
            f"- {self._describe_tool(name, self._query.gold)}" for name in self._query.gold
        )
        written = self._text(
            "plan", fill("plan", query=self._query.text, tools=listed), "plan", 500, most=1200
        )
        if not written:
            raise UnusableRequest("no plan")
        return hide_tool_names(written, self._query.gold)

    def _sub_tasks(self, plan: str) -> dict[str, list[str]]:
        """Return the plan's goals in order of use, each with its tools.

        Tools with the same goal share it.
        """
        named = list(self._query.gold)
        grouped = dict[str, list[str]]()
        if len(named) > 1:
            tools = "\n".join(f"- {name}: {self._short_description(name)}" for name in named)
            schema = {
                "type": "array",
                "items": {"enum": named},
                "minItems": len(named),
                "maxItems": len(named),
            }
            prompt = fill("order", query=self._query.text, plan=plan, tools=tools)
            order = self._reply("order", prompt, schema, 600, "order")
            order = [name for name in order if name in named] if isinstance(order, list) else []
            named = list(dict.fromkeys([*order, *named]))
        for name in named:
            others = "\n" + fill("sub_goal_others", goals=" ".join(grouped)) if grouped else ""
            prompt = fill(
                "sub_goal", plan=plan, tool=self._describe_tool(name, [name]), others=others
            )
            goal = hide_tool_names(
                self._text("goal", prompt, f"goal {name}", 200, most=160), [name]
            )
            if not goal:
                raise UnusableRequest("no sub-goal")
            grouped.setdefault(goal, []).append(name)
        return grouped

    def _step(
        self, plan: str, goal: str, tools: Sequence[str], before: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Run rounds until a query is valid.

        A random draw decides if the failed queries before it stay in the trajectory.
        """
        attempts = list[tuple[str, Sequence[Hit], float]]()
        hints = list[str]()
        done = [
            f'{number}. {one["goal"]} Found by: "{one["attempts"][-1][0]}"'
            for number, one in enumerate(before, 1)
        ]
        for number in range(1, ROUNDS + 1):
            hints.append(self._hint(number, goal, tools, plan, attempts[-1][0] if attempts else ""))
            context = "\n\n".join(filter(None, hints))
            prompt = fill(
                "query",
                query=self._query.text,
                plan=plan,
                done="\n".join(done) or "(none)",
                context=context,
            )
            best = min(
                self._iter_usable_queries(prompt, f"{goal} {number}", tools),
                key=lambda one: one[2],
                default=None,
            )
            attempts += [best] if best is not None else []
            if best is not None and best[2] <= THRESHOLD:
                break
        else:
            raise UnusableRequest(f"no valid query: {goal}")
        kept = random.Random(f"{self._seed} {self._query.id} {len(before)}").random() < KEEP_FAILED
        shown = [(query, found) for query, found, _ in attempts]
        ranks = [[query, rank] for query, _, rank in attempts]
        step = {
            "goal": goal,
            "tools": list(tools),
            "round": number,
            "attempts": ranks,
            "kept": kept,
        }
        return step | {"shown": shown if kept else shown[-1:]}

    def _iter_usable_queries(
        self, prompt: str, purpose: str, tools: Sequence[str]
    ) -> Iterator[tuple[str, Sequence[Hit], float]]:
        """Yield non-empty queries that name no tool, with their hits and the tools' mean rank."""
        system = [Message("system", fill("query_system"))]
        for number in range(self._candidates):
            options = {"before": system, "temperature": TEMPERATURE}
            query = self._text("query", prompt, f"{purpose} {number}", 200, most=300, **options)
            if query and hide_tool_names(query, tools) == query:
                found = self._found.find_hits(query)
                ranks = {hit.tool: rank for rank, hit in enumerate(found, start=1)}
                yield query, found, sum(ranks.get(tool, DEPTH + 1) for tool in tools) / len(tools)

    def _hint(self, number: int, goal: str, tools: Sequence[str], plan: str, tried: str) -> str:
        """Return the additional hint of round `number`.

        Results are those of the last query that was tried.
        """
        match number:
            case 1:
                return fill("hint_goal", goal=goal)
            case 2:
                about = [hide_tool_names(self._documents[one].description, [one]) for one in tools]
                return (
                    fill("hint_description", description="\n".join(filter(None, about)))
                    if any(about)
                    else ""
                )
            case 3:
                return (
                    fill("hint_results", query=tried, found=self._list_tools(tried))
                    if tried
                    else ""
                )
            case 4:
                with_plan = fill("hint_with_plan", found=self._list_tools(f"{tried} {plan}"))
                return f"{self._hint(3, goal, tools, plan, tried)}\n\n{with_plan}" if tried else ""
        lines = []
        for name in tools:  # the document as the index has it, without what names the tool
            found: dict[str, Any] = json.loads(json_text(self._documents[name]))
            kept = {
                key: value
                for key, value in found.items()
                if key not in ("name", "title", "description")
            }
            plain = {
                "description": hide_tool_names(self._documents[name].description, [name])
            } | kept
            lines.append(json.dumps(plain, ensure_ascii=False))
        return fill("hint_document", document="\n".join(lines))

    def _list_tools(self, query: str) -> str:
        return format_found_tools(self._found.find_hits(query)[:SHOWN], self._documents)

    def _short_description(self, name: str) -> str:
        return clip_text(" ".join(self._documents[name].description.split()), 600)

    def _describe_tool(self, name: str, others: Iterable[str]) -> str:
        """Return a tool's description without the names of `others`, or its name if it has none."""
        return (
            hide_tool_names(self._short_description(name) or self._documents[name].title, others)
            or name
        )

    def _text(
        self, key: str, prompt: str, purpose: str, tokens: int, *, most: int, **options: Any
    ) -> str:
        return one_text(self._reply(key, prompt, a_text(most, least=1), tokens, purpose, **options))

    def _reply(
        self,
        key: str,
        prompt: str,
        schema: Any,
        tokens: int,
        purpose: str,
        before: Any = (),
        **options: Any,
    ) -> Any:
        """Return the value of the reply's only key. Each purpose of a request has a fixed seed."""
        seed = random.Random(f"{self._seed} {self._query.id} {purpose}").getrandbits(31)
        messages = [*before, Message("user", prompt)]
        wanted = an_object({key: dict(schema)})
        reply = self._ask(
            messages, schema=wanted, seed=seed, max_tokens=tokens, **{"temperature": 0.0, **options}
        )
        return json_object(reply.text).get(key)


@suite
@click.option(
    "--data",
    required=True,
    metavar="PATH",
    help="Tools, and queries with the tools that they take.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--limit", type=click.IntRange(1), help="Queries, drawn by --seed.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--model", metavar="NAME")
def main(
    data: str, out: Path, limit: int | None, workers: int, seed: int, model: str | None
) -> dict[str, Any]:
    config = load_config({"model": model})
    found = load_data(data)
    queries = draw_sample(found.queries, limit, seed, "queries")
    embedder = choose_embedder(config.embedder, folder=config.cache_dir / "models")
    index = ToolIndex.build(
        found.documents, folder=found.folder(config.cache_dir), embedder=embedder
    )
    ask = choose_model(config)
    base = build("dense", Setup(index=index, ask=ask))
    making = partial(TrajectoryMaker, base=base, documents=index.documents, seed=seed)
    header: dict[str, Any] = {
        "format": "atc-toolqp-2",
        "data": found.digest,
        "model": ask.name,
        "seed": seed,
    }
    rows = make_all(making, queries, ask, out, header, workers=workers)
    return {"data": found.name, "model": ask.name, "out": str(out), **figures(rows)}


def make_all(
    making: Any,
    queries: Sequence[RetrievalQuery],
    ask: Ask,
    out: Path,
    header: Mapping[str, Any],
    *,
    workers: int = 1,
) -> list[dict[str, Any]]:
    """Write the conversations of `queries` to `out`, in order; resumable.

    Return the work file's rows.
    """

    def make(query: RetrievalQuery) -> dict[str, Any]:
        tally = Tally(ask)
        try:
            made = making(query, tally).make()
        except UnusableRequest as dropped:
            made = {"dropped": str(dropped).partition(":")[0], "detail": str(dropped)}
        return {"id": query.id, **made, "usage": asdict(tally.usage)}

    with Rows(out.with_name(f"{out.stem}.work.jsonl"), header, key=("id",)) as file:
        rows = file.fill(queries, make, key=lambda query: (query.id,), label="making", jobs=workers)
    kept = [
        {key: value for key, value in row.items() if key != "usage"}
        for row in rows
        if "messages" in row
    ]
    write_whole(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept))
    return rows


def figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summarize the requests.

    `valid` counts the steps that were valid in round 1, 2, …; `dropped` counts by reason.
    """
    steps = [step for row in rows for step in row.get("steps", ())]
    return {
        "requests": len(rows),
        "trajectories": sum("messages" in row for row in rows),
        "steps": len(steps),
        "valid": {
            str(number): sum(step["round"] == number for step in steps)
            for number in range(1, ROUNDS + 1)
        },
        "dropped": dict(
            sorted(Counter(row["dropped"] for row in rows if "dropped" in row).items())
        ),
        **{
            key: sum(row["usage"][key] for row in rows)
            for key in ("model_calls", "input_tokens", "output_tokens")
        },
    }


if __name__ == "__main__":
    main()
