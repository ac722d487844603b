"""Sentences that say there is no such thing, and of which argument's value."""

from __future__ import annotations

import re

from probing.dialects.clauses import blamed
from probing.dialects.naming import Names

_GONE = re.compile(
    r"(?<!should )(?<!must )(?:\bnot found\b|\bnot be found\b|\b(?:does|do|did)(?: not|n't) (?:exist"
    r"|match any|resolve)|\bno such\b|\bnot exist\b|\bdoesn't exist\b|\b(?:could|can)(?:not|n't| not) find\b"
    r"|\bunable to (?:find|locate)\b|\bno longer exists\b|\bnot a known\b"
    r"|^(?:there is |there are )?(?:no|unknown|nonexistent|non-existent|unrecogni[sz]ed)\s+(?!value\b|argument"
    r"|param|field)[\w ]{1,40}?\s*(?:with \w+ |named |called |for |=|:)?\s*['\"`]|\bnothing found\b"
    r"|\bno results? (?:found )?for\b|\bno \w+ (?:was |were )?found\b"
    r"|\bfound with key\b)(?! in [^\n]{1,60}\benum\b)",
    re.IGNORECASE,
)


def leads_nowhere(clause: str, names: Names, about: str | None, *, lost: bool) -> str | None:
    """The argument whose value leads nowhere. `lost`: the answer's status says that something is."""
    if not (lost or _GONE.search(clause)):
        return None
    if held := blamed(clause, names):
        return held
    if about and names.sent.get(about) is not None:
        return about
    if lost or _GONE.search(clause):
        told = [
            a
            for a in names.sent
            if (text := str(names.sent[a]))
            and len(text) > 1
            and re.search(rf"(?<!\w){re.escape(text[:80])}(?!\w)", clause)
        ]
        if len(told) == 1:
            return told[0]
        noun = re.search(
            (
                r"(\w{3,30}) (?:was |is |could |does |do |did |not |be )*(?:not |n't )?(?:be )?(?:found|exist)"
                r"|no such (\w{3,30})|(?:unknown|nonexistent) (\w{3,30})\W*$"
            ),
            clause,
            re.IGNORECASE,
        )
        if noun:
            about_noun = names.about((noun[1] or noun[2] or noun[3]).lower())
            return about_noun if about_noun in names.sent else None
    return None
