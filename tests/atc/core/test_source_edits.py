"""Edits of a program's source."""

import ast

from atc.core.program import Program
from atc.core.source_edits import SourceOffsets, apply_edits


def test_edits_count_bytes_of_the_source():
    source = "x = 'ü'\ny = f(x, 1)\n"
    offsets, tree = SourceOffsets(source), ast.parse(source)
    call = tree.body[1].value
    edits = [
        offsets.replacement(call.args[1], "22"),
        offsets.replacement(tree.body[0].value, "'ä'"),
    ]
    assert apply_edits(Program(source), edits).source == "x = 'ä'\ny = f(x, 22)\n"
