"""The call with which a model ends a task."""

import pytest
from llguidance import LLMatcher, LLTokenizer

from atc.models.decode.formats import REACT
from atc.models.decode.grammar import call_grammar
from atc.models.decode.parse import write_as
from atc.run.single_calls import finish_tool
from protocols.toolbox import Toolbox


@pytest.mark.parametrize("answer", ["Pat", 47, None, [["Pat", 1], ["Ann", 2]], {"Pat": [1]}])
def test_constrained_models_may_answer_any_json(answer):
    grammar = call_grammar(Toolbox([finish_tool()]), REACT)
    tokenizer = LLTokenizer("byte")
    tokens = tokenizer.tokenize_str(write_as(finish_tool(), {"answer": answer}, REACT))
    matcher = LLMatcher(tokenizer, grammar.text)
    assert matcher.try_consume_tokens(tokens) == len(tokens)
    assert matcher.is_accepting()
