"""Descriptions in languages other than English: which of them say that a call reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from protocols.effects.verbs import GRAMMAR, READS

_MORE = re.compile("[并且和及后再同、,후및]")
"""Characters of Chinese, Japanese and Korean after which a sentence may name a second action."""


def reads_in_another_language(words: Sequence[str]) -> bool:
    """Return True if a simple sentence in another language says that the call reads.

    It must consist of a reading verb, an article and one noun. In Chinese it must consist of a verb
    and a word for a list or information.
    """
    lead = words[0]
    rest = list(words[1:])
    if lead in READS["foreign"] and lead.isalpha() and rest:
        if rest[-1] == "auf" and lead.startswith("list"):
            rest.pop()
        articles = GRAMMAR["foreign_articles"]
        if len(rest) == 2 and rest[0] in articles:
            return True
        linked = (
            len(rest) == 4 and rest[0] in articles and rest[2] in articles | GRAMMAR["foreign_of"]
        )
        return linked and rest[1] in GRAMMAR["foreign_lists"]
    begins = any(not one.isascii() and lead.startswith(one) for one in READS["foreign"])
    return (
        begins
        and not rest
        and not _MORE.search(lead)
        and lead.endswith(tuple(GRAMMAR["chinese_information"]))
    )
