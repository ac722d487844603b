"""Said inside the compiler: nothing conforms to a part of a schema."""

from __future__ import annotations


class Impossible(Exception):
    """Nothing conforms. Where another branch is left, or the part may be absent, no error comes of it.

    `clause` is the place in the schema, filled in by who knows it; `word` a keyword that is to blame. `deep` says that
    only the bound of recursion is met, `unsaid` that something conforms, but no grammar can say what.
    """

    def __init__(
        self, problem: str, *, clause: str = "", word: str = "", deep: bool = False, unsaid: bool = False
    ) -> None:
        super().__init__(problem)
        self.problem, self.clause, self.word, self.deep, self.unsaid = problem, clause, word, deep, unsaid

    def at(self, clause: str) -> Impossible:
        """The same, at `clause` where no place is known yet. A new one, so that it can be raised again."""
        return Impossible(self.problem, clause=self.clause or clause, deep=self.deep, unsaid=self.unsaid)
