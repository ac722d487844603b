"""What a mutant is: a gold program with one fault in it, and where the fault truly lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from sandbox.trace import ToolCall
from toolflow_bench.task import Task

MutantKind = Literal["wrong_key", "wrong_id", "wrong_enum", "off_by_one_page", "missing_guard", "wrong_unit"]
"""`wrong_key`: a field is read under a name that it has not, under the name of the field beside it, or not at all (the
object is taken for the field). `wrong_id`: another id is passed on, of the same or of another kind. `wrong_enum`: a
word that an argument does not allow, the wrong one of those that it allows, or a field compared with a word that it
never has. `off_by_one_page`: paging begins at 0, asks one page too many, or misses the last one. `missing_guard`: the
test for None or emptiness, or the handler of a failed call, is gone. `wrong_unit`: a bound or an argument in another
unit."""

MUTANT_KINDS: tuple[MutantKind, ...] = get_args(MutantKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A call and a place that a fault truly lies in.

    `path` is a place in the call's full response, or the name of its argument; `[]` stands for any index. `call` is the
    call's index where the fault strikes at its first chance; else None, and any call of `tool` that was issued on a
    line from `first_line` to `last_line` is it.
    """

    tool: str
    path: str
    first_line: int
    last_line: int
    call: int | None = None

    def meets(self, call: ToolCall) -> bool:
        """Whether `call` is a call that this speaks of."""
        if self.call is not None:
            return call.index == self.call and call.tool == self.tool
        return call.tool == self.tool and self.first_line <= call.line <= self.last_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A task's gold program with one fault of `kind`, made in the way that `variant` names.

    `line` is that of the fault in `program`, 1-based; `before` and `after` are the texts that differ. `truth` is where
    the fault lies, known from the edit and from the gold run alone, `also` other true names of the same fault: the
    response that a wrong argument came from, or the empty response that it led to.
    """

    task: Task
    kind: MutantKind
    variant: str
    program: str
    line: int
    before: str
    after: str
    truth: Truth
    also: tuple[Truth, ...] = ()

    @property
    def id(self) -> str:
        """Names the mutant among all those of all tasks."""
        return f"{self.task.id}/{self.kind}/{self.variant}/{self.line}/{self.after[:40]}"

    @property
    def tool(self) -> str:
        """Alias of the tool whose call is to blame."""
        return self.truth.tool

    @property
    def call(self) -> int | None:
        """Index of the call to blame, where one alone can be."""
        return self.truth.call

    @property
    def path(self) -> str:
        """The place in that call's response, or its argument's name."""
        return self.truth.path
