"""Saving solved programs as tools: a program becomes a function, some of its literals parameters.

A saved tool is a protocol document. Its binding contains the source of the function, and a digest
that identifies each tool that the function calls. The sandbox defines the function before it runs a
program that calls it. So the calls of the function are checked, need consent and are recorded like
those of the program.
"""

from __future__ import annotations

import ast
import builtins
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from typing_extensions import TypeIs

from atc.archive.learned_schemas import structure
from atc.archive.recording import RecordedTools, create_redactor, find_final_attempt
from atc.archive.saved_descriptions import describe_saved
from atc.core.answers import parse_answer
from atc.core.program import Program
from atc.pipeline.check import check
from atc.store.stored import StoredRun
from probing.infer import count_fields, infer
from protocols.errors import AtcError, InvalidProtocol, ToolError
from protocols.naming import identifier
from protocols.private_files import NotPrivate, keep_private
from protocols.protocol import Annotations, Evidence, ProgramBinding, ToolProtocol, load
from protocols.python_source import parse_python
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.limits import Limits
from sandbox.replay import ReplayDiverged, ReplayJournal
from sandbox.trace import Trace

SOURCE = "saved"
"""The `source` of all saved tools."""

_FUNCTION = """
def NAME():
    PRINTED = []
    def print(*values, sep=' ', end='\\n', **_):
        PRINTED.append((values, sep, end))
    BODY
    if len(PRINTED) == 1 and len(PRINTED[0][0]) == 1:
        return PRINTED[0][0][0]
    return ''.join([
        sep.join([str(value) for value in values]) + end for values, sep, end in PRINTED
    ]).strip()
"""
"""Template of the function; the words in capitals are replaced.

It returns what the program prints as a text. If the program prints just one value, it returns the
value itself.
"""
_BUILTINS_USED = frozenset({"print", "len", "str"})
"""Built-in functions that the template calls."""


class CannotSave(AtcError):
    """A run cannot be saved as a tool in the requested way. The message says what to change."""


class Savable:
    """A solved run whose program can be saved as a tool.

    Raises:
        CannotSave: The run is not solved.
    """

    def __init__(self, run: StoredRun) -> None:
        self._where = f"run {run.summary.run_id}"
        if run.summary.status != "solved":
            raise CannotSave(
                f"{self._where} is {run.summary.status}; only a solved run becomes a tool."
            )
        self._run = run
        self._attempt = find_final_attempt(run)
        self._redact = create_redactor(run)
        self._source = self._attempt.program.source
        self._tree = tree = self._attempt.program.tree
        self._names = dict.fromkeys(
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name)
        )
        self._known = {_key(node.value): node.value for node in _find_literals(tree)}

    @property
    def literals(self) -> dict[str, Json]:
        """The literals that can become parameters, keyed by their Python source.

        In the keys, secrets are replaced by placeholders.
        """
        useful = (value for value in self._known.values() if value not in (0, 1, ""))
        return {self._redact(repr(value)): value for value in useful}

    def literal(self, text: str) -> Json:
        """Find the literal in the program that equals `text`, which the user has typed.

        `text` is read as a Python literal or, failing that, as a string without quotes.

        Raises:
            CannotSave: The program has no such literal.
        """
        for read in (ast.literal_eval, str):
            try:
                value = read(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if _key(value) in self._known:
                return value
        known = ", ".join(list(self.literals)[:12]) or "none"
        raise CannotSave(
            f"the program of {self._where} has no literal {text!r}; those that it has: {known}."
        )

    def tool(self, name: str, parameters: Mapping[str, Json], sandbox: Sandbox) -> ToolProtocol:
        """Return the tool, after checking that its function gives the run's answer.

        For this, the function is run in `sandbox` with the results of the recorded calls. Each of
        `parameters` maps a parameter's name to the literal that it replaces. The tool is described
        by the run's task, in which the parameters replace their literals.

        Raises:
            CannotSave: A name cannot be used, the tool would contain a secret, or the function does
                not give the run's answer.
        """
        self._check_names(name, parameters)
        binding = ProgramBinding(
            source=self._function(name, parameters), tools=self._tool_identities()
        )
        if self._redact(binding.source) != binding.source:
            raise CannotSave(
                f"a secret stands in the program of {self._where}; make it a parameter:"
                " --parameter NAME=LITERAL."
            )
        arguments = ", ".join(f"{parameter}={value!r}" for parameter, value in parameters.items())
        answer = self._run_and_compare(f"{binding.source}\n{name}({arguments})", binding, sandbox)
        schema: JsonObject = structure(infer([answer], shared=True))
        if schema.get("type") == "object":
            schema = {**schema, "additionalProperties": True}
        writes = any(self._run.protocols[alias].writes for alias in binding.tools)
        fields = count_fields(schema, [answer])
        described = describe_saved(self._run.summary, self._tree, parameters)
        return ToolProtocol(
            name=name,
            description=self._redact(described) or name.replace("_", " "),
            input_schema={
                "type": "object",
                "properties": {one: self._schema(value) for one, value in parameters.items()},
                "required": list(parameters),
                "additionalProperties": False,
            },
            output_schema=schema,
            annotations=Annotations(read_only=not writes),
            binding=binding,
            evidence=Evidence(level="observed", observations=1, fields=fields),
        )

    def _check_names(self, name: str, parameters: Mapping[str, Json]) -> None:
        """Check that the names of the tool and its parameters are not used for anything else.

        Raises:
            CannotSave: One of the names is no Python identifier or is used already, or two
                parameters replace the same literal.
        """
        for one in (name, *parameters):
            if identifier(one) != one:
                raise CannotSave(
                    f"{one!r} is no name for Python; {identifier(one)!r} would be one."
                )
        python = set(dir(builtins))
        tools = {*self._run.protocols, *self._run.summary.identities}
        if name in tools | python:
            raise CannotSave(
                f"{name!r} is the name of a tool or of a Python function already; choose another."
            )
        called = tools | (python & {*self._names, *_BUILTINS_USED})
        bound, literal = _count_bindings(self._tree)
        for one, value in parameters.items():
            if one in called:
                raise CannotSave(
                    f"a parameter {one!r} would hide what the program calls so; choose another"
                    " name."
                )
            if bound[one] > literal[one, _key(value)]:
                raise CannotSave(
                    f"the program of {self._where} sets {one!r} to something else, too; choose"
                    " another name."
                )
        if len({_key(value) for value in parameters.values()}) < len(parameters):
            raise CannotSave(
                "two parameters stand for the same literal; a literal is one parameter or none."
            )

    def _tool_identities(self) -> dict[str, str]:
        """Return the digest that identifies each tool that the program calls, keyed by alias.

        Raises:
            CannotSave: The program calls a saved tool, or a tool that the run did not begin with.
        """
        called = [name for name in self._names if name in self._run.protocols]
        known = self._run.summary.identities
        for alias in called:
            if alias not in known or isinstance(self._run.protocols[alias].binding, ProgramBinding):
                raise CannotSave(
                    f"{self._where} calls {alias!r}, which is itself a saved tool, or was not"
                    " there when it began; save a run whose program calls the tools of your"
                    " sources alone."
                )
        return {alias: known[alias] for alias in called}

    def _function(self, name: str, parameters: Mapping[str, Json]) -> str:
        """Return the source of a function called `name` with the program as its body.

        `parameters` maps each parameter's name to the literal that it replaces in the program.
        """
        printed = "printed"  # a name that the program does not use
        while printed in self._source:
            printed += "_"
        function = parse_python(_FUNCTION.replace("PRINTED", printed)).body[0]
        assert isinstance(function, ast.FunctionDef)
        function.name = name
        function.args.kwonlyargs = [ast.arg(parameter) for parameter in parameters]
        function.args.kw_defaults = [None for _ in parameters]
        at = next(n for n, node in enumerate(function.body) if ast.unparse(node) == "BODY")
        tree = parse_python(self._source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names = {_key(value): parameter for parameter, value in parameters.items()}
        keys = ((node, _key(node.value)) for node in _find_literals(tree))
        named = {id(node): names[key] for node, key in keys if key in names}
        function.body[at : at + 1] = _LiteralReplacer(named).visit(tree).body
        return ast.unparse(ast.fix_missing_locations(function))

    def _run_and_compare(self, source: str, binding: ProgramBinding, sandbox: Sandbox) -> Json:
        """Run the function with the results of the recorded calls, and return its result.

        `source` defines and calls the function.

        Raises:
            CannotSave: The check finds an error in it, or its result is not the run's answer.
        """
        tools = RecordedTools({alias: self._run.protocols[alias] for alias in binding.tools})
        problem = next((one.message for one in check(Program(source), tools) if one.certain), None)
        trace = None
        if not problem:
            try:
                trace = self._replay(source, tools, sandbox)
                problem = self._find_difference(trace)
            except ReplayDiverged as departure:
                problem = str(departure)
        if trace is None or problem:
            raise CannotSave(
                f"the program of {self._where} is not the same as a function:"
                f" {self._redact(problem or '')}"
            )
        return trace.value

    def _replay(self, source: str, tools: Toolbox, sandbox: Sandbox) -> Trace:
        """Run `source`, and answer its calls from the recorded calls of the run."""
        recorded = self._attempt.trace
        assert recorded is not None
        limits = replace(Limits(), tool_calls=max(len(recorded.calls), Limits().tool_calls))
        return sandbox.run(source, tools, limits=limits, journal=ReplayJournal(recorded))

    def _find_difference(self, trace: Trace) -> str | None:
        """Return how a replay differs from the run, or None if it gives the same answer."""
        if trace.failure is not None:
            return f"{trace.failure.type}: {trace.failure.message}"
        answer = self._attempt.answer or ""
        same = trace.value == parse_answer(answer) or str(trace.value) == answer
        if same and len(trace.calls) >= len(self._attempt.calls):
            return None
        return "it does not give the run's answer; the program may end itself, or print nothing."

    def _schema(self, value: Json) -> dict[str, Any]:
        """Return the JSON Schema of a parameter that replaces the literal `value`.

        Its description gives the literal as an example, unless that is a secret.
        """
        schema: dict[str, Any] = structure(infer([value], shared=True))
        hidden = self._redact.value(value) != value or self._redact(repr(value)) != repr(value)
        return schema if hidden else schema | {"description": f"Such as {value!r}."}


class _LiteralReplacer(ast.NodeTransformer):
    """Replaces literals in a syntax tree by parameters.

    `names` has the names of the parameters, keyed by the `id()` of the literal's node.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Return the parameter that replaces a literal; the literal itself if none does."""
        return ast.Name(self._names[id(node)], ast.Load()) if id(node) in self._names else node


def load_saved_tools(toolbox: Toolbox, folder: Path) -> Toolbox:
    """Return the toolbox together with the saved tools in `folder`.

    Saved tools that cannot be used with the toolbox are left out.
    """
    checked = check_saved_tools(toolbox, folder)
    return toolbox.also([tool for _, tool, _ in checked if tool is not None])


def check_saved_tools(toolbox: Toolbox, folder: Path) -> list[tuple[str, Tool | None, str]]:
    """Return (file name, tool, reason) for each saved tool in `folder`.

    If a tool cannot be used with `toolbox`, `tool` is None and `reason` says why; otherwise
    `reason` is empty.
    """
    paths = sorted(folder.glob("*.json"))
    return [(path.name, *_check_saved_tool(toolbox, path)) for path in paths]


def _check_saved_tool(toolbox: Toolbox, path: Path) -> tuple[Tool | None, str]:
    """Return the saved tool in a file and "", or None and the reason why it cannot be used."""
    try:
        keep_private(path)
        protocol = load(json.loads(path.read_text(encoding="utf-8")), where=str(path))
    except (OSError, ValueError, RecursionError, InvalidProtocol, NotPrivate) as error:
        return None, f"it cannot be read ({error})"
    if not isinstance(protocol.binding, ProgramBinding):
        return None, "it is no saved tool; 'atc runs save' writes one"
    for alias, identity in protocol.binding.tools.items():
        if alias not in toolbox:
            return None, f"it calls {alias}, which is not among these tools"
        if toolbox[alias].identity != identity:
            reason = f"it calls {alias}, which is another tool than when it was saved"
            return None, f"{reason}; save it anew"
    return Tool(protocol, _within_programs, source=SOURCE), ""


def _within_programs(arguments: JsonObject) -> Json:  # noqa: ARG001 - required by Call
    """Raise an error, because only programs in the sandbox can call a saved tool."""
    raise ToolError(
        None,
        "a saved tool runs within programs: 'atc run' and 'atc tools call' run it.",
        outcome="not_run",
    )


def _find_literals(tree: ast.AST) -> list[ast.Constant]:
    """Return the nodes of strings and numbers in a program that could become parameters.

    Keys of dictionaries and responses, parts of f-strings and docstrings are excluded.
    """
    nodes = list(ast.walk(tree))
    excluded = {id(part) for node in nodes for part in _excluded_parts(node)}
    return [node for node in nodes if _is_literal(node) and id(node) not in excluded]


def _is_literal(node: ast.AST) -> TypeIs[ast.Constant]:
    """Return True if a node of the syntax tree is a string or a number."""
    return isinstance(node, ast.Constant) and type(node.value) in (str, int, float)


def _count_bindings(tree: ast.AST) -> tuple[Counter[str], Counter[tuple[str, str]]]:
    """Return how often each variable is assigned, and how often each literal is assigned to it.

    The second counter is keyed by pairs: the variable's name, and the `_key` of the literal.
    """
    bound = Counter[str]()
    literals = Counter[tuple[str, str]]()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound[name] += 1
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_literal(value):
                literals[name, _key(value.value)] += 1
    return bound, literals


def _excluded_parts(node: ast.AST) -> Sequence[ast.AST | None]:
    """Return the parts of a syntax tree node that cannot become parameters, even if constant.

    An example is the key in `row["id"]`.
    """
    match node:
        case ast.JoinedStr(values=parts) | ast.Dict(keys=parts):
            return parts
        case ast.Expr(value=part) | ast.MatchValue(value=part) | ast.Subscript(slice=part):
            return [part]
        case ast.Call(func=ast.Attribute(attr="get" | "pop" | "setdefault"), args=[part, *_]):
            return [part]
    return []


def _key(value: Json) -> str:
    """Return a text that is the same for two literals only if they have the same type and value."""
    return f"{type(value).__name__} {json.dumps(value)}"
