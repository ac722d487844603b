"""Solved programs as tools: a program becomes a function of the literals that are its parameters.

A saved tool is one protocol document. Its binding holds the function's source and the identity of each tool that it
calls. The sandbox defines it beside the programs that call it, so it runs there like these, and its calls
are checked, gated and journaled like theirs.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from atc.check import check
from atc.learned import structure
from atc.recording import RecordedTools, redactor, standing
from atc.store.stored import StoredRun
from atc.types import Program, answered
from probing.infer import count_fields, infer
from protocols.errors import AtcError, InvalidProtocol, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.parsing import parse
from protocols.protocol import Annotations, Binding, Evidence, ProgramBinding, ToolProtocol, load
from protocols.toolbox import Tool, Toolbox
from protocols.words import identifier
from sandbox.base import Sandbox
from sandbox.limits import Limits
from sandbox.replay import Diverged, ReplayJournal

SOURCE = "saved"
"""The name of the source that saved tools come from."""

_FUNCTION = """
def NAME():
    SAID, LAST = [], None
    def print(*values, sep=' ', end='\\n', file=None, flush=False):
        if file is None:
            SAID.append((values, sep, end))
    BODY
    if not SAID:
        return LAST
    if len(SAID) == 1 and len(SAID[0][0]) == 1 and isinstance(SAID[0][0][0], (dict, list, int, float)):
        return SAID[0][0][0]
    LAST = ''.join([sep.join([str(value) for value in values]) + end for values, sep, end in SAID]).strip()
"""
_TEXT = """
    return LAST
"""
_JSON = """
    import json as SAID
    try:
        return SAID.loads(LAST)
    except ValueError:
        return LAST
"""
"""What a function does beside the program: it keeps what that prints, and gives it back. What is printed alone keeps
its type; a text is read as JSON where the run's answer was JSON."""
_USED = frozenset({"print", "len", "isinstance", "dict", "list", "int", "float", "str", "ValueError"})


class CannotSave(AtcError):
    """A run that cannot become a tool as it was asked for. The sentence says what to change."""

    exit_code = 2


class Savable:
    """A solved run that is to become a tool.

    Raises:
        CannotSave: it is not solved.
    """

    def __init__(self, run: StoredRun) -> None:
        self._where = f"run {run.summary.id}"
        if run.summary.status != "solved":
            raise CannotSave(f"{self._where} is {run.summary.status}; only a solved run becomes a tool.")
        self._run, self._attempt = run, standing(run)
        self._redact = redactor(run)
        self._source = self._attempt.program.source
        self._tree = parse(self._source, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        self._names = dict.fromkeys(node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name))
        self._known = {_key(value): value for value in map(ast.literal_eval, _literals(self._tree))}

    @property
    def literals(self) -> dict[str, Json]:
        """What could be a parameter: each literal as Python, a placeholder for a secret, and its value."""
        return {self._redact(repr(one)): one for one in self._known.values() if one not in (0, 1, -1, "")}

    def literal(self, text: str) -> Json:
        """The literal that a person means by `text`: as Python or JSON, else as plain text.

        Raises:
            CannotSave: the program has no such literal.
        """
        for read in (ast.literal_eval, json.loads, str):
            try:
                value = read(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if _key(value) in self._known:
                return self._known[_key(value)]
        could = ", ".join(list(self.literals)[:12]) or "none"
        raise CannotSave(f"the program of {self._where} has no literal {text!r}; those that it has: {could}.")

    def tool(self, name: str, parameters: Mapping[str, Json], sandbox: Sandbox) -> ToolProtocol:
        """The tool, after its function has passed the check and has given the run's answer from the run's calls.

        The run's task describes it.

        Raises:
            CannotSave: a name cannot be used, a secret would be in it, or the function does not do what the run did.
        """
        self._check_names(name, parameters)
        called = {alias: self._run.protocols[alias].binding for alias in self._names if alias in self._run.protocols}
        binding = ProgramBinding(source=self._function(name, parameters, called), tools=self._needed(called))
        if self._redact(binding.source) != binding.source:
            raise CannotSave(
                f"a secret stands in the program of {self._where}; make it a parameter: --parameter NAME=LITERAL."
            )
        given = ", ".join(f"{parameter}={value!r}" for parameter, value in parameters.items())
        answer = self._proved(f"{binding.source}\n{name}({given})", binding, sandbox)
        schema: JsonObject = structure(infer([answer]))
        if schema.get("type") == "object":
            schema = {**schema, "additionalProperties": True}
        return ToolProtocol(
            name=name,
            description=self._redact(self._run.summary.task) or name.replace("_", " "),
            input_schema={
                "type": "object",
                "properties": {parameter: self._schema(value) for parameter, value in parameters.items()},
                "required": list(parameters),
                "additionalProperties": False,
            },
            output_schema=schema,
            annotations=Annotations(read_only=not any(self._run.protocols[alias].writes for alias in binding.tools)),
            binding=binding,
            evidence=Evidence(level="observed", observations=1, fields=count_fields(schema, [answer])),
        )

    def _check_names(self, name: str, parameters: Mapping[str, Json]) -> None:
        python, tools = set(dir(builtins)), {*self._run.protocols, *self._run.summary.identities}
        for one in (name, *parameters):
            if identifier(one) != one:
                raise CannotSave(f"{one!r} is no name for Python; {identifier(one)!r} would be one.")
        if name in tools | python:
            raise CannotSave(f"{name!r} is the name of a tool or of a Python function already; choose another.")
        if shadowing := [one for one in parameters if one in tools | (python & {*self._names, *_USED})]:
            raise CannotSave(f"a parameter {shadowing[0]!r} would hide what the program calls so; choose another name.")
        if len({_key(value) for value in parameters.values()}) < len(parameters):
            raise CannotSave("two parameters stand for the same literal; a literal is one parameter or none.")

    def _needed(self, called: Mapping[str, Binding | None]) -> dict[str, str]:
        """The identity of each tool that is called, also by saved ones, which go into the function."""
        needed: dict[str, str] = {}
        for alias, binding in called.items():
            if isinstance(binding, ProgramBinding):
                needed |= binding.tools
            elif alias in self._run.summary.identities:
                needed[alias] = self._run.summary.identities[alias]
            else:
                raise CannotSave(
                    f"{self._where} began without {alias!r}, so it is not known which tool that is; run its last"
                    " program in a run of its own, and save that one."
                )
        return needed

    def _function(self, name: str, parameters: Mapping[str, Json], called: Mapping[str, Binding | None]) -> str:
        """The program as one function."""
        words = set(re.findall(r"\w+", self._source)) | {*parameters}
        said, last = _free("said", words), _free("last", words)
        inner = {one: _free(f"given_{one}", words) if one in self._names else one for one in parameters}
        text = _FUNCTION + (_TEXT if isinstance(answered(self._attempt.answer or ""), str) else _JSON)
        function = parse(text.replace("SAID", said).replace("LAST", last)).body[0]
        assert isinstance(function, ast.FunctionDef)
        function.name = name
        function.args.kwonlyargs = [ast.arg(parameter) for parameter in parameters]
        function.args.kw_defaults = [None for _ in parameters]
        before = [f"{variable} = {one}" for one, variable in inner.items() if variable != one]
        before += [binding.source for binding in called.values() if isinstance(binding, ProgramBinding)]
        body = _Body({_key(value): inner[one] for one, value in parameters.items()}).of(parse(self._source), last)
        at = next(n for n, node in enumerate(function.body) if ast.unparse(node) == "BODY")
        function.body[at : at + 1] = [*parse("\n".join(before)).body, *body]
        source = ast.unparse(ast.fix_missing_locations(function))
        try:
            compile(source, "<saved>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise CannotSave(
                f"the program of {self._where} cannot be a function ({error}); run it without that, and save that run."
            ) from error
        return source

    def _proved(self, source: str, binding: ProgramBinding, sandbox: Sandbox) -> Json:
        """What the function gives from the run's own calls: the run's answer, or it is not saved."""
        recorded, answer = self._attempt.trace, self._attempt.answer or ""
        assert recorded is not None
        tools = RecordedTools({alias: self._run.protocols[alias] for alias in binding.tools})
        head = f"as a function, the program of {self._where}"
        found = [finding for finding in check(Program(source), tools) if finding.certain]
        if found:
            raise CannotSave(f"{head} does not pass the check: {self._redact(found[0].message)}")
        limits = replace(Limits(), tool_calls=max(len(recorded.calls), Limits().tool_calls))
        try:
            trace = sandbox.run(source, tools, limits=limits, journal=ReplayJournal(recorded))
        except Diverged as departure:
            raise CannotSave(f"{head} does not do the same: {self._redact(str(departure))}") from None
        if trace.failure is not None:
            raise CannotSave(f"{head} fails: {self._redact(f'{trace.failure.type}: {trace.failure.message}')}")
        if len(trace.calls) < len(recorded.calls) or (trace.value != answered(answer) and str(trace.value) != answer):
            raise CannotSave(f"{head} does not give the run's answer; its last program may end itself, or print twice.")
        return trace.value

    def _schema(self, value: Json) -> dict[str, Any]:
        schema: dict[str, Any] = structure(infer([json.loads(json.dumps(value))]))
        hidden = self._redact.value(value) != value or self._redact(repr(value)) != repr(value)
        return schema if hidden else schema | {"description": f"Such as {value!r}."}


class _Body(ast.NodeTransformer):
    """Makes a program the body of a function: `names` has the variable for each literal that is a parameter."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names, self._replaced = names, dict[int, str]()

    def of(self, tree: ast.Module, last: str) -> list[ast.stmt]:
        """The statements; the value of the last expression goes to the variable `last`."""
        for node in _literals(tree):
            if (name := self._names.get(_key(ast.literal_eval(node)))) is not None:
                self._replaced[id(node)] = name
        body: list[ast.stmt] = self.visit(tree).body
        if body and isinstance(end := body[-1], ast.Expr):
            body[-1] = ast.Assign([ast.Name(last, ast.Store())], end.value)
        return body

    def visit(self, node: ast.AST) -> Any:
        """A parameter in the literal's place."""
        name = self._replaced.get(id(node))
        return self.generic_visit(node) if name is None else ast.Name(name, ast.Load())


def offered(toolbox: Toolbox, folder: Path) -> Toolbox:
    """The toolbox with those saved tools whose own tools are in it."""
    return toolbox.also([tool for _, tool, _ in examined(toolbox, folder) if tool is not None])


def examined(toolbox: Toolbox, folder: Path) -> list[tuple[str, Tool | None, str]]:
    """Each file of saved tools: its name, the tool, or else why `toolbox` cannot offer it."""
    return [(path.name, *_examined(toolbox, path)) for path in sorted(folder.glob("*.json"))]


def _examined(toolbox: Toolbox, path: Path) -> tuple[Tool | None, str]:
    try:
        protocol = load(json.loads(path.read_text(encoding="utf-8")), where=str(path))
        binding = protocol.binding
        if not isinstance(binding, ProgramBinding) or not _is_function(binding.source, protocol):
            return None, "it is no saved tool; 'atc runs save' writes one"
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError, InvalidProtocol) as error:
        return None, f"it cannot be read ({error})"
    for alias, identity in binding.tools.items():
        if alias not in toolbox:
            return None, f"it calls {alias}, which is not among these tools"
        if toolbox[alias].identity != identity:
            return None, f"it calls {alias}, which is another tool than when it was saved; save it anew"
    return Tool(protocol, _within_programs, source=SOURCE), ""


def _is_function(source: str, protocol: ToolProtocol) -> bool:
    """Whether it is one function of that name and those parameters, with nothing that is evaluated before a call."""
    match parse(source).body:
        case [ast.FunctionDef(name=protocol.name, args=given, decorator_list=[], returns=None)]:
            return ast.unparse(given) == ", ".join(["*", *protocol.parameters] if protocol.parameters else [])
    return False


def _within_programs(arguments: JsonObject) -> Json:  # noqa: ARG001 - the shape of every Call
    raise ToolError(None, "a saved tool runs within programs: 'atc run' and 'atc serve' offer it.", outcome="not_run")


def _literals(tree: ast.AST) -> list[ast.expr]:
    """The texts, numbers, and lists of them that a program works with; outer ones first.

    Keys of responses, parts of texts and documentation are none.
    """
    nodes = list(ast.walk(tree))
    others = {id(part) for node in nodes for part in _no_literals(node)}
    return [node for node in nodes if isinstance(node, ast.expr) and id(node) not in others and _is_literal(node)]


def _no_literals(node: ast.AST) -> Sequence[ast.AST | None]:
    match node:
        case ast.JoinedStr(values=parts) | ast.Dict(keys=parts):
            return parts
        case ast.Expr(value=part) | ast.MatchValue(value=part) | ast.UnaryOp(operand=part) | ast.Subscript(slice=part):
            return [part]
        case ast.Call(func=ast.Attribute(attr="get" | "pop" | "setdefault"), args=[part, *_]):
            return [part]
    return []


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value):
            return type(value) in (str, int, float)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return type(value) in (int, float)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return bool(items) and all(map(_is_literal, items))
    return False


def _key(value: Json) -> str:
    return f"{type(value).__name__} {json.dumps(value)}"


def _free(name: str, words: set[str]) -> str:
    while name in words:
        name += "_"
    return name
