"""Writing of programs: the prompt, the sampled replies and the program in a reply."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from atc.core.line_edits import apply_line_edits, line_edits
from atc.core.messages import format_list
from atc.core.program import Program
from atc.core.prompts import fill
from atc.core.replies import program_in_reply, says_same
from protocols.model import Completion, Message
from protocols.render import WITH_RESPONSES, Docs, describe_within_budget
from protocols.schema import Json, JsonObject, resolve, types, unwrap_schema
from protocols.tool import Tool
from protocols.toolbox import Toolbox

Complete = Callable[..., Completion]
"""Asks the model of a run: `complete(messages, purpose=…, temperature=…, seed=…)`.

It counts usage and enforces limits (see `model_budget`).
"""
EXAMPLE_TASKS: Mapping[Docs, str] = {
    "names": "example_task_names",
    "compact": "example_task_compact",
}
"""The prompts with the example task, for descriptions of tools that are no stubs."""
_COMBINED = ("allOf", "anyOf", "oneOf")
_MOST_NAMED = 12
_DEEPEST = 5
"""Maximum number of lists and maps within each other that are looked into."""


def build_program_prompt(
    task: str,
    tools: Toolbox,
    *,
    budget: int,
    docs: Docs = "full",
    nearest: int | None = None,
    by_name: Sequence[str] = (),
    small: bool = False,
) -> list[Message]:
    """Build the conversation that asks for a first program (I_c of the ATC paper).

    A worked example from another domain comes first: small models depend on it more than on the
    instructions, and a constant beginning of the prompt can be cached. `budget` is the number of
    tokens for the descriptions of the tools. `docs` is the kind of these descriptions, see
    `protocols.render.Docs`. If `nearest` is a number, the tools after the first `nearest` ones are
    described without optional arguments. The calls in `by_name`, such as `get_city(city_id: str)`,
    are listed below the descriptions. If `small` is True, the model gets the rules on which small
    models were measured, without `look`.
    """
    text, chosen = describe_within_budget(tools, budget=budget, docs=docs, nearest=nearest)
    asked = fill("task", stubs=add_names(text, by_name), task=task)
    if docs in WITH_RESPONSES and (unknown := find_undescribed(chosen.values())):
        asked += "\n\n" + fill("unknown_shapes", which=_say_which(unknown, chosen))
    return [
        Message("system", _rules(small=small)),
        Message("user", fill(EXAMPLE_TASKS.get(docs, "example_task"))),
        Message("assistant", fill("example_program")),
        Message("user", asked),
    ]


_LOOK = """\
- To see a value before you go on, end the program with look(value): you are shown it and write the\
 next program.
"""


_PAGES = """\
- A list may hold only one page of its rows: `for page in pages(list_items, owner="x"):` gives\
 every page, each as list_items(owner="x") returns it.
- `value, headers = with_headers(create_item, name="x")` gives the headers of the response, too.
"""
_PAGES_SMALL = """\
- A list may be one page of many: for page in pages(list_items, owner="x"): gives all of them.
- value, headers = with_headers(list_items, owner="x") gives the headers, too.
"""


def _rules(*, small: bool) -> str:
    """Return the rules for whole programs."""
    if small:
        keys = ", and only with the keys that are shown"
        return fill("program", keys=keys, pages=_PAGES_SMALL, look="")
    keys = "; where keys are shown, only with those"
    more = f"{_LOOK}{fill('abilities')}\n"
    return fill("program", keys=keys, pages=_PAGES, look=more)


def add_names(stubs: str, calls: Sequence[str]) -> str:
    """Return descriptions of tools (`stubs`), followed by one line for each of the `calls`.

    A line such as `get_city(city_id: str)` shows how a further tool is called.
    """
    if not calls:
        return stubs
    lines = "\n".join(f"# {call}" for call in calls)
    return f"{stubs}\n\n{fill('functions_by_name', calls=lines)}"


def _say_which(undescribed: Sequence[str], tools: Toolbox) -> str:
    """Return a sentence that names the tools in a prompt whose responses are not described."""
    if not any(map(is_described, tools.values())):
        return "None of these functions describes what its result holds."
    names = format_list(undescribed, most=_MOST_NAMED)
    return f"Nobody has described what the results of these functions hold: {names}."


def find_undescribed(tools: Iterable[Tool]) -> list[str]:
    """Return the aliases of tools whose response no schema describes.

    Tools that are declared to write are left out, and so are tools of whose result a docstring says
    that it is a text or a number.
    """
    return [
        t.alias
        for t in tools
        if t.protocol.annotations.read_only is not False
        and not is_described(t)
        and not _gives_scalar(t)
    ]


def is_described(tool: Tool) -> bool:
    """Return True if a schema says which fields or values a tool's response has.

    The schema may be from a document or from observed responses, but not guessed.
    """
    protocol = tool.protocol
    if protocol.output_schema is None or protocol.evidence.level == "guessed":
        return False
    return _describes_value(unwrap_schema(protocol.output_schema), protocol.output_schema)


def _gives_scalar(tool: Tool) -> bool:
    """Return True if a tool's response is a text, a number or nothing, perhaps by a guess."""
    kinds = types(unwrap_schema(tool.protocol.output_schema or {}))
    return bool(kinds) and not {"object", "array"} & set(kinds)


def declares_response(tool: Tool) -> bool:
    """Return True if a tool's protocol, its description, says anything about its response.

    A schema that only says that the response is an object or a list is not enough, but one that
    explicitly allows any keys is.
    """
    schema = tool.protocol.output_schema
    is_bare = schema is None or resolve(schema, schema).keys() <= {"type"}
    kinds = () if schema is None else types(resolve(schema, schema))
    return is_described(tool) or not (is_bare and kinds in ((), ("object",), ("array",)))


def _describes_value(schema: Json, root: JsonObject, depth: int = 0) -> bool:
    """Return True if a schema says more about a value than that it is an object or a list."""
    if depth > _DEEPEST or not isinstance(schema, Mapping):
        return depth > _DEEPEST
    resolved = resolve(schema, root)
    if any(resolved.get(key) for key in _COMBINED):
        return True
    kinds = types(resolved)
    if kinds == ("object",):
        more = resolved.get("additionalProperties")
        has_keys = any(resolved.get(key) for key in ("properties", "patternProperties"))
        return has_keys or (isinstance(more, Mapping) and _describes_value(more, root, depth + 1))
    if kinds == ("array",):
        has_places = bool(resolved.get("prefixItems"))
        return has_places or _describes_value(resolved.get("items"), root, depth + 1)
    return bool(kinds)


def new_program(
    messages: Sequence[Message],
    complete: Complete,
    *,
    known: Collection[str],
    most: int,
    temperature: float,
    base: Program | None = None,
) -> Program | None:
    """Ask the model up to `most` times, until a reply has a program that is not in `known`.

    Return the program of the last reply, or None if that reply contains none. The first reply is
    sampled at temperature 0. Further replies use `temperature` and the seeds 1, 2, … and are only
    requested if no reply so far contained a new program, because a known program would fail again.
    A reply may also change single lines of `base`, the program that the last prompt shows. The one
    word SAME stands for `base` unchanged, and no further reply is requested.
    """
    program = None
    for seed in range(most):
        purpose, warmth = ("sample", temperature) if seed else ("write", 0.0)
        reply = complete(messages, purpose=purpose, temperature=warmth, seed=seed).text
        if base is not None and says_same(reply):
            return base
        edits = line_edits(reply) if base is not None else {}
        program = apply_line_edits(base, edits) if base and edits else program_in_reply(reply)
        if program is not None and program.source not in known:
            break
    return program
