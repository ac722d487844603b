"""ReAct's format as an automaton: a thought in free words, the name of a tool, its arguments; then the turn ends.

It is ToolDec's way with models that plan before they act (section 4.2): the line `Action:` switches modes. A final
answer is a tool like any other, say `finish`.
"""

from __future__ import annotations

from dataclasses import replace

from atc.decode.arguments import arguments_grammar
from atc.decode.automaton import ToolAutomaton
from atc.decode.bounds import BOUNDS, Bounds
from atc.decode.errors import Undecodable
from atc.decode.formats import REACT, CallFormat
from atc.decode.machine import ArgumentsOf, Machine
from atc.decode.states import InOpening, InText
from atc.decode.vocabulary import Vocabulary
from protocols.toolbox import Toolbox


class ReactAutomaton(ToolAutomaton):
    """One turn: `opening` (empty where the prompt ends with it), a thought of at most `thought_tokens`, and one call.

    The thought ends where a line begins with `Action:`; after its last token it must.

    Raises:
        Undecodable: as `ToolAutomaton` does, and where a format has nothing before names that could end the thought.
    """

    def __init__(
        self,
        tools: Toolbox,
        vocabulary: Vocabulary,
        *,
        form: CallFormat = REACT,
        opening: str = "Thought:",
        thought_tokens: int = 200,
        bounds: Bounds = BOUNDS,
        arguments: ArgumentsOf = arguments_grammar,
    ) -> None:
        label = form.before.rstrip()
        if not label:
            raise Undecodable(f"a turn of the format {form.name!r} has nothing that ends its thought (`before`).")
        amid = replace(form, trigger="\n" + label, before=form.before[len(label) :])
        machine = Machine(tools, vocabulary, amid, bounds=bounds, arguments=arguments, again=False)
        left = max(1, thought_tokens)
        self._begin(machine, InOpening(opening.encode(), left) if opening else InText(0, left))
