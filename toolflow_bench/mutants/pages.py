"""`off_by_one_page`: paging begins at 0, asks for one page too many, or leaves the last one out."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

from atc.mend.paging import SIZE_ARGUMENTS
from toolflow_bench.mutants.edit import text_of
from toolflow_bench.mutants.making import Edit, empty_answers, mutant_of, of_argument
from toolflow_bench.mutants.mutant import Mutant
from toolflow_bench.mutants.observe import Gold

_PAGES = ("page", "page_number")


def wrong_pages(gold: Gold, _rng: object) -> Iterator[Mutant]:
    """A mutant for each variant of each call of a tool that gives pages.

    `start`: one page before the right one. `beyond`: one page after the right one; after the last where the program
    reads but one. `missed`: a loop over pages ends one too early. `half`: pages are half as long, and only the first is
    read, as before.
    """
    for site in gold.tool_calls():
        tool = gold.toolbox[gold.alias(site) or ""]
        page = next((alias for alias in tool.arguments if alias in _PAGES), None)
        first = gold.values(site)[0].call
        if page is None or first is None or not isinstance(gold.calls[first].result, Mapping):
            continue
        given = next((keyword.value for keyword in site.keywords if keyword.arg == page), None)
        if given is None or isinstance(given, ast.Constant):
            yield from _of_one(gold, site, page, first, given)
        else:
            yield from _of_loop(gold, site, page, given)


def _of_one(gold: Gold, site: ast.Call, page: str, first: int, given: ast.Constant | None) -> Iterator[Mutant]:
    """Of a call that asks for one page, the first where it does not say."""
    result = gold.calls[first].result
    once = len(gold.values(site)) == 1
    lists = [key for key, value in result.items() if isinstance(value, list)]
    size = next((alias for alias in gold.toolbox[gold.alias(site) or ""].arguments if alias in SIZE_ARGUMENTS), None)
    last = result.get("pages") if isinstance(result.get("pages"), int) else 1
    options = [("start", page, (given.value if given is not None and isinstance(given.value, int) else 1) - 1, True)]
    options.append(("beyond", page, max(int(last or 1), 1) + 1, once))
    longest = max((len(result[key]) for key in lists), default=0)
    if size is not None and longest > 1:
        options.append(("half", size, (longest + 1) // 2, once))
    for variant, argument, value, sure in options:
        also = empty_answers(gold, site)
        if variant == "half":
            also.append(of_argument(gold, site, page, sure=sure))
        edit = Edit(node=site, text=_with(site, argument, ast.Constant(value)), variant=variant)
        made = mutant_of(gold, "off_by_one_page", edit, of_argument(gold, site, argument, sure=sure), also)
        if made is not None:
            yield made


def _of_loop(gold: Gold, site: ast.Call, page: str, given: ast.expr) -> Iterator[Mutant]:
    """Of a call in a loop over pages."""
    also = empty_answers(gold, site)
    for variant, shift in (("start", " - 1"), ("beyond", " + 1")):
        edit = Edit(node=given, text=f"{text_of(gold.source, given)}{shift}", variant=variant)
        truth = of_argument(gold, site, page, sure=variant == "start")
        made = mutant_of(gold, "off_by_one_page", edit, truth, also)
        if made is not None:
            yield made
    names = {node.id for node in ast.walk(given) if isinstance(node, ast.Name)}
    for node in ast.walk(gold.tree):
        edited = _ends_early(gold, node, names)
        if edited is not None:
            truth = of_argument(gold, site, page, sure=False)
            made = mutant_of(gold, "off_by_one_page", edited, truth, also)
            if made is not None:
                yield made


def _ends_early(gold: Gold, node: ast.AST, names: set[str]) -> Edit | None:
    """The edit that ends a loop over pages one too early, where `node` decides when it ends."""
    match node:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.LtE()], comparators=[bound]) if name in names:
            return Edit(node=node, text=f"{name} < {text_of(gold.source, bound)}", variant="missed")
        case ast.Compare(left=ast.Name(id=name), ops=[ast.GtE() | ast.Eq() | ast.Lt()], comparators=[bound]) if (
            name in names
        ):
            return Edit(node=bound, text=f"{text_of(gold.source, bound)} - 1", variant="missed")
        case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=[*_, stop])) if (
            name in names
        ):
            return Edit(node=stop, text=f"{text_of(gold.source, stop)} - 1", variant="missed")
    return None


def _with(site: ast.Call, argument: str, value: ast.expr) -> str:
    """The text of a call with one argument replaced or added."""
    changed = copy.deepcopy(site)
    changed.keywords = [keyword for keyword in changed.keywords if keyword.arg != argument]
    changed.keywords.append(ast.keyword(argument, value))
    return ast.unparse(changed)
