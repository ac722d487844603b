"""Static check: report what is wrong with a program before any tool is called.

The check never raises, executes nothing and asks no model. It is an abstract interpreter: it
follows the program with types instead of values, where the type of a tool's result comes from the
tool's response schema. A value whose type is not certain has the type `ANY`, and no finding is
based on this type. A program that calls no tool is not reported.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from atc.core.messages import character_span, limit_guesses, render_finding, render_place
from atc.core.program import Program
from atc.core.types import Finding
from atc.pipeline.check.imports import unavailable_imports
from atc.pipeline.check.names import output_findings, shadowed_tools
from atc.pipeline.check.statements import flow_findings
from atc.pipeline.check.syntax import (
    SyntaxFacts,
    collect_syntax_facts,
    find_repeated_keywords,
    parse_or_report,
    walk_nodes,
)
from protocols.toolbox import Toolbox

__all__ = ["MOST_FINDINGS", "character_span", "check", "render_finding", "render_place"]

MOST_FINDINGS = 10


def check(program: Program, tools: Toolbox) -> tuple[Finding, ...]:
    """Return the problems found in `program`, sorted by line; at most `MOST_FINDINGS`.

    A finding with `certain` = False depends on the data that arrives at run time, for example on a
    field that can be null, or it rests on weak evidence about a response (see `lenient` in
    `atc.pipeline.check.responses.response_document`).
    """
    tree = parse_or_report(program)
    if isinstance(tree, Finding):
        return (tree,)
    nodes = walk_nodes(tree)
    facts = collect_syntax_facts(nodes)
    with limit_guesses():
        flow = flow_findings(tree, facts, tools)
        return _distinct(
            [
                *find_repeated_keywords(nodes),
                *shadowed_tools(tree, nodes, tools),
                *unavailable_imports(tree, tools),
                *_confirm(flow, tree, facts, tools),
                *output_findings(tree, nodes),
            ]
        )


def _confirm(
    found: list[Finding], tree: ast.Module, facts: SyntaxFacts, tools: Toolbox
) -> list[Finding]:
    """Return the findings; those that rest on weak evidence about responses become uncertain.

    These are the findings that a second, `lenient` analysis, which ignores weak evidence, does not
    have.
    """
    if not any(finding.certain for finding in found):
        return found
    lenient = flow_findings(tree, facts, tools, lenient=True)
    sure = {(finding.code, finding.line, finding.column) for finding in lenient if finding.certain}
    return [
        finding
        if (finding.code, finding.line, finding.column) in sure
        else replace(finding, certain=False)
        for finding in found
    ]


def _distinct(found: list[Finding]) -> tuple[Finding, ...]:
    """Return the findings sorted by position, with at most one per code and position.

    If there are more than `MOST_FINDINGS`, the uncertain ones are dropped first.
    """
    placed: dict[tuple[int, int, str], Finding] = {}
    for finding in sorted(found, key=lambda f: (f.line, f.column, f.code)):
        placed.setdefault((finding.line, finding.column, finding.code), finding)
    kept = sorted(placed.values(), key=lambda f: not f.certain)[:MOST_FINDINGS]
    return tuple(sorted(kept, key=lambda f: (f.line, f.column, f.code)))
