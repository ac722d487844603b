"""ToolDec's machine: what it allows is exactly what the format derives, in whatever tokens it is written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("llguidance")

from atc.decode.arguments import call_grammar
from atc.decode.automaton import ToolAutomaton
from atc.decode.errors import Undecodable
from atc.decode.formats import FUNCTION, JSON_CALL, PYTHON_CALL, REACT, TOOLDEC, CallFormat
from atc.decode.lark import lark
from atc.decode.matcher import Matcher
from atc.decode.run import FinishedCall, State
from protocols.jsontypes import Json
from protocols.toolbox import Toolbox
from tests.decode_automaton_lab import (
    EOS,
    NUMBER,
    SPECIAL,
    TOOLS,
    TRIGGER,
    allowed_tokens,
    small_vocabulary,
    splits,
    toolbox,
    walk,
    write,
)

VOCABULARY = small_vocabulary()
FORMS = (FUNCTION, JSON_CALL, PYTHON_CALL, REACT)
ROOTS = {form.name: ToolAutomaton(TOOLS, VOCABULARY, form) for form in (*FORMS, TOOLDEC)}
WHOLE = {form.name: Matcher(VOCABULARY, lark(call_grammar(TOOLS, form))) for form in FORMS}
SENTENCES = {
    "function": ["add(12, 30)", "mul(-1.5, 2e3)", "multiply([1, 2])", "now()", 'say("a) <T>x(", True)', "sqrt(4/3)"],
    "json": [
        '{"name": "mul", "arguments": {"a": 12, "b": 30}}',
        '{"name": "multiply", "arguments": {"values": []}}',
        '{"name": "say", "arguments": {"text": "\\"}}"}}',
        '{"name": "now", "arguments": {}}',
    ],
    "python": ["mul(b=12, a=30)", "say(text='über', loud=False)", "now()"],
    "react": ['Action: add\nAction Input: {"a":1, "b":-1}\n', "Action: now\nAction Input: {}\n"],
    "tooldec": [
        "Its area is <T>square(5) and the<T>now()",
        "<<T>add(1, 2)<T>multiply([1])<T",
        '<T>say("<T>add(")x',
        "no call <T at all",
        "",
    ],
}


def texts(tokens: list[int]) -> set[bytes]:
    return {VOCABULARY.tokens[token] for token in tokens}


def test_the_example_of_the_paper() -> None:
    automaton = ToolAutomaton(
        toolbox({name: {"a": NUMBER} for name in ("add", "exp", "square", "sqrt")}), VOCABULARY, TOOLDEC
    )
    write(automaton, "Its area is ")
    assert automaton.state == State("text")
    assert EOS in allowed_tokens(automaton)
    write(automaton, "<T>")
    assert automaton.state == State("name")
    assert texts(allowed_tokens(automaton)) == {b"a", b"add", b"add(1", b"e", b"exp", b"s", b"sq", b"square"}
    automaton.advance(VOCABULARY.ids[b"sq"])
    assert texts(allowed_tokens(automaton)) == {b"u", b"uare", b"r", b"rt"}
    automaton.advance(VOCABULARY.ids[b"uare"])
    assert automaton.state == State("arguments", "square")
    assert texts(allowed_tokens(automaton)) == {b"(", b"(1"}
    write(automaton, "(5")
    assert {b")", b".", b"0", b") and", b")<T>", b".5"} < texts(allowed_tokens(automaton))
    assert automaton.calls == ()
    write(automaton, ")")
    assert automaton.calls == (FinishedCall("square", "5"),)
    assert automaton.state == State("text")


TAGS: Json = {"type": "array", "items": {"type": "string", "maxLength": 3}, "uniqueItems": True}
LABELS = toolbox({"label": {"tags": TAGS}})


@pytest.mark.parametrize(
    ("form", "good"),
    [
        (JSON_CALL, '{"name": "label", "arguments": {"tags": ["a", "b)"]}}'),
        (FUNCTION, 'label(["a", "b)"])'),
        (PYTHON_CALL, "label(tags=['a', 'b)'])"),
        (TOOLDEC, '<T>label(["a", "b)"])'),
        (REACT, 'Action: label\nAction Input: {"tags": ["a", "b)"]}\n'),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_finished_call_is_held_to_what_no_grammar_says(form: CallFormat, good: str) -> None:
    root = ToolAutomaton(LABELS, VOCABULARY, form)
    [right] = write(root.fresh(), good).calls
    assert (right.tool, right.problem) == ("label", "")
    [wrong] = write(root.fresh(), good.replace("b)", "a")).calls
    assert "tags" in wrong.problem
    assert "non-unique" in wrong.problem


@pytest.mark.parametrize(("form", "sentence"), [(form, text) for form, all_ in SENTENCES.items() for text in all_])
@pytest.mark.parametrize("seed", range(4))
def test_a_sentence_is_accepted_in_whatever_tokens(form: str, sentence: str, seed: int) -> None:
    automaton = ROOTS[form].fresh()
    tokens = VOCABULARY.encode(sentence) if seed == 0 else splits(sentence, VOCABULARY, seed)
    for token in tokens:
        assert token in allowed_tokens(automaton)
        automaton.advance(token)
    assert automaton.text == sentence.encode()
    assert automaton.is_complete
    automaton.advance(EOS)
    assert automaton.is_finished
    assert automaton.state == State("done")


@settings(max_examples=40, deadline=None)
@given(form=st.sampled_from(FORMS), seed=st.integers(0, 10**6))
def test_a_walk_over_the_masks_ends_in_a_call(form: CallFormat, seed: int) -> None:
    automaton = walk(ROOTS[form.name].fresh(), seed)
    assert automaton.is_finished
    whole = WHOLE[form.name].copy()
    assert whole.feed(automaton.text) == len(automaton.text)
    assert whole.is_complete
    assert len(automaton.calls) == 1


@settings(max_examples=40, deadline=None)
@given(form=st.sampled_from(FORMS), seed=st.integers(0, 10**6), steps=st.integers(0, 12))
def test_a_token_is_allowed_exactly_if_all_its_bytes_are(form: CallFormat, seed: int, steps: int) -> None:
    automaton = walk(ROOTS[form.name].fresh(), seed, most=steps)
    if automaton.is_finished:
        return
    whole = WHOLE[form.name].copy()  # one grammar of all tools, fed byte by byte
    assert whole.feed(automaton.text) == len(automaton.text)
    allowed = set(allowed_tokens(automaton))
    for token, text in enumerate(VOCABULARY.tokens):
        if text:
            assert (token in allowed) == whole.foresees(text), (automaton.text, text)
    assert (EOS in allowed) == whole.is_complete
    assert SPECIAL not in allowed


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    start=st.sampled_from(["", "<T", "<T>", "a <T>mul", "<T>add(1, 2", '<T>say("', "x<T>now("]),
)
def test_amid_text_a_token_is_allowed_exactly_if_it_can_be_advanced_bytewise(seed: int, start: str) -> None:
    automaton = walk(write(ROOTS["tooldec"].fresh(), start), seed, most=seed % 4)
    if automaton.is_finished:
        return
    allowed = set(allowed_tokens(automaton))
    for token, text in enumerate(VOCABULARY.tokens):
        if text:
            assert (token in allowed) == _goes_on(automaton, text), (automaton.text, text)


def _goes_on(automaton: ToolAutomaton, data: bytes) -> bool:
    again = automaton.copy()
    try:
        write(again, data)
    except ValueError:
        return False
    return True


@settings(max_examples=60, deadline=None)
@given(form=st.sampled_from((*FORMS, TOOLDEC)), seed=st.integers(0, 10**6), steps=st.integers(1, 40), data=st.data())
def test_what_is_rolled_back_was_never_there(form: CallFormat, seed: int, steps: int, data: st.DataObject) -> None:
    automaton = ROOTS[form.name].fresh()
    if form.trigger:
        write(automaton, "<T>")
    seen = []  # (mask, state, calls, text) before each token
    tokens = []
    for token in _tokens_of_a_walk(automaton, seed, steps):
        seen.append((automaton.allowed().copy().tobytes(), automaton.state, automaton.calls, automaton.text))
        automaton.advance(token)
        tokens.append(token)
    back = data.draw(st.integers(0, len(tokens)))
    automaton.rollback(back)
    for before, token in zip(seen[len(tokens) - back :], tokens[len(tokens) - back :], strict=True):
        assert (automaton.allowed().tobytes(), automaton.state, automaton.calls, automaton.text) == before
        automaton.advance(token)


def _tokens_of_a_walk(automaton: ToolAutomaton, seed: int, steps: int) -> list[int]:
    scout = automaton.copy()
    tokens: list[int] = []
    for step in range(steps):
        if scout.is_finished:
            break
        choices = allowed_tokens(scout)
        tokens.append(choices[(seed * 31 + step * 7919) % len(choices)])
        scout.advance(tokens[-1])
    return tokens


def test_calls_that_are_complete_are_told_in_their_order() -> None:
    automaton = write(ROOTS["tooldec"].fresh(), "a <T>add(1, 2) b <T>now()<T>mul(3,")
    assert automaton.calls == (FinishedCall("add", "1, 2"), FinishedCall("now", ""))
    assert automaton.state == State("arguments", "mul")
    assert not automaton.is_complete
    automaton.rollback(9)
    assert automaton.calls == (FinishedCall("add", "1, 2"), FinishedCall("now", ""))
    automaton.rollback(1)  # the bracket that closed `now`
    assert automaton.calls == (FinishedCall("add", "1, 2"),)
    assert automaton.state == State("arguments", "now")


def test_a_token_through_a_whole_call_and_into_the_next() -> None:
    vocabulary = small_vocabulary(["x<T>now()<T>mu", "x<T>now(1", "<T>now()<T>now()y", ")<T>x", ")<T>n"])
    automaton = ToolAutomaton(TOOLS, vocabulary, TOOLDEC)
    first, bad, two, wrong, right = range(259, 264)
    assert {first, two} <= set(allowed_tokens(automaton))
    assert bad not in allowed_tokens(automaton)
    automaton.advance(first)
    assert automaton.calls == (FinishedCall("now", ""),)
    assert automaton.state == State("name")
    automaton.rollback(1)
    automaton.advance(two)
    assert [call.tool for call in automaton.calls] == ["now", "now"]
    write(automaton, "<T>add(1, 2")
    assert right in allowed_tokens(automaton)
    assert wrong not in allowed_tokens(automaton)
    with pytest.raises(ValueError, match="may not come next"):
        automaton.advance(wrong)
    automaton.advance(right)
    assert automaton.state == State("name")


def test_a_refused_token_changes_nothing() -> None:
    for form, text in (("function", "add(1"), ("json", '{"name": "mu'), ("tooldec", "<T>mul(1, 2")):
        automaton = write(ROOTS[form].fresh(), text)
        before = automaton.allowed().tobytes(), automaton.state, automaton.text
        for token in set(range(VOCABULARY.size)) - set(allowed_tokens(automaton)):
            with pytest.raises(ValueError, match="may not come next"):
                automaton.advance(token)
        assert (automaton.allowed().tobytes(), automaton.state, automaton.text) == before


def test_a_token_that_is_none_of_the_vocabulary_is_refused() -> None:
    for token in (-1, VOCABULARY.size, 10**9):
        with pytest.raises(ValueError, match="may not come next"):
            ROOTS["function"].fresh().advance(token)


def test_more_cannot_be_given_back_than_was_taken() -> None:
    automaton = write(ROOTS["function"].fresh(), "add")
    with pytest.raises(ValueError, match="3 tokens were taken"):
        automaton.rollback(4)
    with pytest.raises(ValueError, match="cannot be given back"):
        automaton.rollback(-1)
    automaton.rollback(3)
    assert automaton.text == b""


def test_special_tokens_stand_in_text_only() -> None:
    automaton = ROOTS["tooldec"].fresh()
    assert {SPECIAL, EOS} <= set(allowed_tokens(automaton))
    write(automaton, "<")
    automaton.advance(SPECIAL)
    write(automaton, "T>")  # a special token is no text: the trigger was not written
    assert automaton.state == State("text")
    write(automaton, "<T>")
    assert not {SPECIAL, EOS} & set(allowed_tokens(automaton))


def test_a_token_may_be_the_trigger() -> None:
    automaton = ToolAutomaton(TOOLS, VOCABULARY, FUNCTION, trigger_token=TRIGGER)
    write(automaton, "add(x <T>")
    assert automaton.state == State("text")
    automaton.advance(TRIGGER)
    assert texts(allowed_tokens(automaton)) >= {b"add", b"mul"}
    write(automaton, "add(1, 2)")
    assert automaton.state == State("text")
    automaton.advance(TRIGGER)
    write(automaton, "now()")
    assert [call.tool for call in automaton.calls] == ["add", "now"]
    usual = ToolAutomaton(TOOLS, VOCABULARY, FUNCTION, trigger_token=VOCABULARY.ids[b"the"])
    usual.advance(VOCABULARY.ids[b"the"])
    assert usual.state == State("name")


def test_automata_of_one_family_do_not_see_each_other() -> None:
    root = ROOTS["function"].fresh()
    one, other = write(root.fresh(), "add(1"), write(root.fresh(), "add(1, 2")
    third = write(one.copy(), ", 3)")
    assert (one.text, other.text, third.text) == (b"add(1", b"add(1, 2", b"add(1, 3)")
    write(one, "5, 6)")
    write(other, "5)")
    assert [each.is_complete for each in (one, other, third)] == [True, True, True]
    assert not root.text


def test_what_must_come_next_is_foretold() -> None:
    automaton = ROOTS["json"].fresh()
    assert VOCABULARY.decode(automaton.forced()) == b'{"name": "'
    write(automaton, '{"name": "mul')
    assert automaton.forced() == []
    write(automaton, "t")
    told = automaton.forced()
    assert VOCABULARY.decode(told).startswith(b'iply", "arguments": ')
    for token in told:
        assert token in allowed_tokens(automaton)
        automaton.advance(token)
    assert automaton.state == State("arguments", "multiply")


def test_the_grammar_of_a_tool_is_made_when_it_is_chosen() -> None:
    made: list[str] = []

    def arguments(tool, form, *, bounds):
        from atc.decode.arguments import arguments_grammar

        made.append(tool.alias)
        return arguments_grammar(tool, form, bounds=bounds)

    root = ToolAutomaton(TOOLS, small_vocabulary([]), FUNCTION, arguments=arguments)
    write(root.fresh(), "mul")
    assert made == []
    for _ in range(3):
        allowed_tokens(write(root.fresh(), "mul("))
    assert made == ["mul"]
    root.check()
    assert set(made) == set(TOOLS)


def test_a_name_that_goes_on_as_another_and_what_follows_it() -> None:
    """With `_(` behind names, `a_` may still be `a` or `a_b`."""
    form = CallFormat(name="odd", between="_(", after=")", arguments="positional")
    automaton = ToolAutomaton(toolbox({"a": {}, "a_b": {}}), VOCABULARY, form)
    write(automaton, "a_")
    assert texts(allowed_tokens(automaton)) == {b"(", b"()", b"b"}
    assert walk(automaton.copy(), 1).calls[0].tool in ("a", "a_b")
    assert write(automaton.copy(), "()").calls == (FinishedCall("a", ""),)
    assert write(automaton.copy(), "b_()").calls == (FinishedCall("a_b", ""),)


@pytest.mark.parametrize(
    ("tools", "form", "message"),
    [
        (Toolbox(), FUNCTION, "no tools"),
        (TOOLS, CallFormat(name="x", between="(", after="", arguments="positional", trigger="<T>"), "have no end"),
        (
            toolbox({"a": {}, "a_b": {}}),
            CallFormat(name="x", between="_", after=".", arguments="json"),
            "cannot be told",
        ),
    ],
)
def test_what_no_automaton_can_be_made_of_is_said_at_once(tools: Toolbox, form: CallFormat, message: str) -> None:
    with pytest.raises(Undecodable, match=message):
        ToolAutomaton(tools, VOCABULARY, form)


@pytest.mark.parametrize("token", [EOS, -1, 10**6])
def test_a_token_that_cannot_be_the_trigger(token: int) -> None:
    with pytest.raises(Undecodable, match="cannot begin a call"):
        ToolAutomaton(TOOLS, VOCABULARY, FUNCTION, trigger_token=token)


def test_a_schema_that_nothing_conforms_to_is_found_by_check() -> None:
    tools = toolbox({"fine": {}, "odd": {"x": {"type": "integer", "minimum": 3, "maximum": 2}}})
    with pytest.raises(Undecodable, match=r"odd.*/properties/x"):
        ToolAutomaton(tools, VOCABULARY, FUNCTION).check()


def test_hostile_names_and_values_stay_what_they_are() -> None:
    """Names come from elsewhere: they must not break out of a grammar."""
    tools = {'x"\n | /.*/ //': TOOLS["now"], "%llguidance {}": TOOLS["now"], "<T>": TOOLS["now"]}
    automaton = ToolAutomaton(tools, VOCABULARY, FUNCTION)  # type: ignore[arg-type]
    for name in tools:
        assert write(automaton.fresh(), f"{name}()").calls == (FinishedCall(name, ""),)
    with pytest.raises(ValueError, match="may not come next"):
        write(automaton.fresh(), 'x"\n | anything')
