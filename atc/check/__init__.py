"""The static check: what is wrong with a program, known from its tools' schemas before any call is made.

The check never raises, runs nothing and asks no model. It follows the type of every value from the response schemas
through the program; whatever it is not certain of is unknown, and no finding rests on that. A program that calls no
tool is not a finding; see `called_tools`.
"""

from __future__ import annotations

import ast

from atc.check.flow import flow_findings
from atc.check.report import characters, few_guesses, render_finding, render_place
from atc.check.source.branches import half_bound_names
from atc.check.source.endless import leafless
from atc.check.source.failures import lost_failures
from atc.check.source.hints import read_hints
from atc.check.source.memo import walk
from atc.check.source.names import unbound_names
from atc.check.source.output import output_findings
from atc.check.source.scopes import Scopes, read_scopes
from atc.check.source.shadows import shadowed_tools
from atc.check.source.syntax import doubled_arguments, parse
from atc.check.source.unseeded import unseeded_dicts
from atc.types import Finding, Program
from protocols.toolbox import Toolbox

__all__ = ["MOST_FINDINGS", "called_tools", "characters", "check", "render_finding", "render_place"]

MOST_FINDINGS = 10


def check(program: Program, tools: Toolbox) -> tuple[Finding, ...]:
    """What is wrong with `program`, in the order of its lines; at most `MOST_FINDINGS`.

    A finding that is not `certain` is about data that may or may not come: a field that can be null.
    """
    tree = parse(program)
    if isinstance(tree, Finding):
        return (tree,)
    try:
        scopes = read_scopes(tree)
    except RecursionError:
        return ()
    nodes = walk(tree)
    with few_guesses():
        return _distinct(_found(scopes, tree, nodes, tools))


def _found(scopes: Scopes, tree: ast.Module, nodes: list[ast.AST], tools: Toolbox) -> list[Finding]:
    found = [
        *doubled_arguments(nodes),
        *unbound_names(scopes, tools),
        *shadowed_tools(scopes, tools),
        *lost_failures(scopes, nodes, tools),
        *leafless(scopes),
        *unseeded_dicts(scopes, nodes),
        *flow_findings(scopes, read_hints(nodes), tools),
        *output_findings(tree, nodes),
    ]
    return found + half_bound_names(scopes, nodes, tools, found)


def called_tools(program: Program, tools: Toolbox) -> tuple[str, ...]:
    """Aliases of the tools that the program names, in order of first mention; empty for one that does not parse."""
    tree = parse(program)
    if isinstance(tree, Finding):
        return ()
    names = [node for node in walk(tree) if isinstance(node, ast.Name) and node.id in tools]
    return tuple(dict.fromkeys(node.id for node in sorted(names, key=lambda node: (node.lineno, node.col_offset))))


def _distinct(found: list[Finding]) -> tuple[Finding, ...]:
    """In order of position, one finding of a code at a place; where there are many, the certain ones are kept."""
    placed: dict[tuple[int, int, str], Finding] = {}
    for finding in sorted(found, key=lambda f: (f.line, f.column, f.code)):
        placed.setdefault((finding.line, finding.column, finding.code), finding)
    kept = sorted(placed.values(), key=lambda f: not f.certain)[:MOST_FINDINGS]
    return tuple(sorted(kept, key=lambda f: (f.line, f.column, f.code)))
