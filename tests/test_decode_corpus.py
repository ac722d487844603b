"""One corpus, four judges: llguidance, GBNF, our automaton, and a parser with a JSON Schema validator."""

from __future__ import annotations

import ast
import json
from collections import Counter
from functools import cache
from typing import Any

import pytest

pytest.importorskip("llguidance")

from atc.decode.arguments import arguments_grammar
from atc.decode.automaton import ToolAutomaton
from atc.decode.formats import FUNCTION, JSON_CALL, PYTHON_CALL, ArgumentForm
from atc.decode.gbnf import NotExpressible, gbnf
from atc.decode.lark import lark
from protocols.schema import violations
from protocols.toolbox import Tool, Toolbox
from tests.decode_corpus import TOOLS, Written, corpus
from tests.decode_schema_lab import BYTES, Gbnf, takes

FORMATS = {"json": JSON_CALL, "positional": FUNCTION, "keywords": PYTHON_CALL}
CORPUS = corpus()


@cache
def _root(alias: str, form: ArgumentForm) -> ToolAutomaton:
    return ToolAutomaton(Toolbox([TOOLS[alias][0]]), BYTES, FORMATS[form])


@cache
def _gbnf(alias: str, form: ArgumentForm) -> Gbnf | None:
    try:
        return Gbnf(gbnf(arguments_grammar(TOOLS[alias][0], form), exact=True))
    except NotExpressible:
        return None


def _automaton(one: Written) -> bool:
    form, here = FORMATS[one.form], _root(one.tool.alias, one.form).fresh()
    for token in BYTES.encode(form.before + one.tool.alias + form.between + one.text + form.after):
        if here.is_complete and not form.trigger:
            return False  # a call in text mode may end before its text does
        try:
            here.advance(token)
        except ValueError:
            return False
    return here.is_complete


def _value(one: Written) -> dict[str, Any]:
    """The arguments by alias, read without any grammar."""
    if one.form == "json":
        read = json.loads(one.text, object_pairs_hook=_once)
        if not isinstance(read, dict):
            raise ValueError("no object")
        return read
    call = ast.parse(f"f({one.text})", mode="eval").body
    assert isinstance(call, ast.Call)
    if len({part.arg for part in call.keywords}) < len(call.keywords):
        raise ValueError("a keyword twice")
    if one.form == "keywords" and call.args:
        raise ValueError("a positional argument")
    if one.form == "positional" and (call.keywords or len(call.args) > len(one.tool.arguments)):
        raise ValueError("a keyword, or too many")
    positional = dict(zip(one.tool.arguments, map(_literal, call.args), strict=False))
    return positional | {str(part.arg): _literal(part.value) for part in call.keywords}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return dict(pairs)


def _literal(node: ast.expr) -> Any:
    match node:
        case ast.BinOp(top, ast.Div(), bottom):
            return ast.literal_eval(top) / ast.literal_eval(bottom)
    return ast.literal_eval(node)


def _conforms(one: Written) -> bool:
    try:
        arguments = _value(one)
        if not arguments.keys() <= one.tool.arguments.keys():
            return False
        return not violations(one.tool.protocol.input_schema, one.tool.original(arguments))
    except (ValueError, SyntaxError, TypeError, ZeroDivisionError, OverflowError):
        return False


@cache
def _verdict(alias: str, form: ArgumentForm, text: str) -> bool:
    one = Written(tool=TOOLS[alias][0], form=form, text=text)
    return takes(lark(arguments_grammar(one.tool, one.form)), one.text)


def _lark(one: Written) -> bool:
    return _verdict(one.tool.alias, one.form, one.text)


def test_the_corpus_is_large_and_mixed() -> None:
    verdicts = Counter(map(_lark, CORPUS))
    assert len(CORPUS) >= 500
    assert min(verdicts.values()) >= 150
    assert {one.form for one in CORPUS} == {"json", "positional", "keywords"}


def test_all_judges_say_the_same() -> None:
    differing = []
    for one in CORPUS:
        taken = _lark(one)
        grammar = _gbnf(one.tool.alias, one.form)
        verdicts = {"automaton": _automaton(one), "gbnf": taken if grammar is None else grammar.matches(one.text)}
        if set(verdicts.values()) != {taken}:
            differing.append((one.tool.alias, one.form, one.text[:200], taken, verdicts))
    assert not differing


def test_what_is_accepted_conforms() -> None:
    assert not [(one.tool.alias, one.form, one.text) for one in CORPUS if _lark(one) and not _conforms(one)]


NOT_WRITTEN = {
    "white space but one space after a separator": {
        *("12,  30", " ", '{"a":  0, "b": 0.001}', '{"n":  999}', "{'id': 1, 'name':  'Ann'}", "{'v':  1}"),
        '{"shape": {"kind": "circle", "r":  1.5}}',
    },
    "numbers that JSON does not write so": {"+1, 2", "1., 2", "00", "00.5", "x=00.001"},
    "an integer with an exponent, and minus zero": {'{"n": 1e2}', '{"n": -0}'},
    "half a pair of surrogates": {'{"city": "\\ud83d"}'},
    "a string beyond the bound": {'{"city": "' + "x" * 401 + '"}'},
    "Python's strings in a row": {"city='x' 'y'"},
    "a backslash before what needs none, and Python's further escapes": {
        *("'a\\abab'", "s='a\\abab'"),
    },
    "keys that nobody named, where the schema does not ask for them": {
        "{'v': 1, 'of': [{'v': 2}, {'f': [], 'v': 3}]}",
    },
}
"""What readers take and grammars do not write, by why."""


def test_what_conforms_is_accepted_but_for_what_is_listed() -> None:
    refused = {one.text for one in CORPUS if _conforms(one) and not _lark(one)}
    assert refused == {text for texts in NOT_WRITTEN.values() for text in texts}


def test_what_gbnf_cannot_say_is_listed() -> None:
    assert {(alias, form) for alias in TOOLS for form in FORMATS if _gbnf(alias, form) is None} == {
        *(("seven", form) for form in ("json", "keywords")),
        *(("twice", form) for form in FORMATS),
        *(("counts", form) for form in FORMATS),
    }


@pytest.mark.parametrize("alias", ["seven", "counts"])
def test_gbnf_says_less_where_it_cannot_say_all(alias: str) -> None:
    one = TOOLS[alias][0]
    try:
        declared = Gbnf(gbnf(arguments_grammar(one, "json")))
    except NotExpressible:
        assert alias == "counts"
        return
    texts = [written for written in CORPUS if written.tool is one and written.form == "json"]
    assert any(declared.matches(written.text) for written in texts)
    assert all(_lark(written) for written in texts if declared.matches(written.text))


def _tools() -> list[Tool]:
    return [one for one, _ in TOOLS.values()]


def test_rendering_is_the_same_each_time() -> None:
    for one in _tools():
        grammar = arguments_grammar(one, "json")
        assert lark(grammar) == lark(grammar)
        assert lark(grammar).startswith("%llguidance {}\n")
