"""Regular expressions that match a secret's value, beginning at the end of the secret's name.

The value is the group `v` if it has no quotes, else one of the groups `q1` to `q3` and `r1` to
`r3`. Every repetition is bounded, so that matching takes little time for any text.
"""

from __future__ import annotations

import re

from protocols.secrets.nameless import QUOTED

_PLAIN = (
    r"""(?P<v>(?:(?![;,]\s{0,2}["']?[A-Za-z_][\w.\- ]{0,40}["']?\s?[:=])"""
    r"""(?!&[\w.\-]{1,40}=)[^\s"'`<>]){1,600})"""
)
_SCHEME = (
    r"(?:(?:Basic|Bearer|Token|ApiKey|Api-Key|Digest|Key|Negotiate|SSWS|GenieKey|Splunk|OAuth|JWT)"
    r"\s{1,4})?"
)
ASSIGNED = re.compile(
    rf"""[\\"'`\])]{{0,4}}[ \t]{{0,12}}(?P<by>=>|:=|==?|::?|->|＝|：|\|)[ \t]{{0,60}}
    (?:\n[ \t]{{1,20}}|[|>][+-]?[ \t]*\n[ \t]{{1,20}})?
    (?:[A-Za-z]{{1,3}}(?=["']))?(?:{QUOTED}|(?P<scheme>{_SCHEME}){_PLAIN})""",
    re.VERBOSE | re.IGNORECASE,
)
MARKUP = re.compile(
    r"""["']?[^<>\n]{0,80}>\s{0,20}(?:</?[\w:.-]{1,40}>\s{0,20}){0,2}
    (?:<!\[CDATA\[)?(?P<v>[^\s<>\]]{1,600})(?:\]\]>)?\s{0,20}</
    | ["']?[^<>\n]{0,120}?[\s,]\\*["']?value\\*["']?
    \s{0,4}[:=]\s{0,4}\\*["'](?P<q1>[^"'<>\\\n]{1,600})["'\\]""",
    re.VERBOSE | re.IGNORECASE,
)
SECOND = re.compile(
    rf"""\\*["']\s{{0,4}},\s{{0,40}}{QUOTED}
    | [^()\n]{{0,60}}[(=]\s{{0,4}}\(?\s{{0,4}}[^()\n]{{0,200}}?["']\s{{0,4}},\s{{0,4}}
    {QUOTED.replace("q", "r")}\s{{0,4}}[,)]""",
    re.VERBOSE,
)
"""A value that is the next argument after its name, or the last one of a pair, as in `auth=("bob",
"…")`.
"""
VALUE_BELOW = re.compile(
    r"""["']?,?[ \t]{0,4}\r?\n[ \t]{0,40}(?:-[ \t]+)?["']?value["']?[ \t]{0,4}[:=][ \t]{0,4}
    (?:["'](?P<q1>[^"'\n]{1,600})["']|(?P<v>[^\s"']{1,600}))""",
    re.VERBOSE | re.IGNORECASE,
)
PART = re.compile(
    r"""["'](?:;[^\n]{0,200})?\r?\n(?:[\w-]{1,40}:[^\n]{0,100}\r?\n){0,3}\r?\n"""
    r"""(?P<v>[^\s]{1,600})\r?\n"""
)
"""The content of one part of a multipart body, after the headers of the part."""
FLAG = re.compile(rf"[ \t]{{1,4}}(?:{QUOTED}|(?P<v>[^\s\"'`<>|;]{{1,600}}))")
CALLED = re.compile(rf"\(\s{{0,4}}(?:{QUOTED})")
IN_WORDS = re.compile(
    r"""(?:[ \t]+(?:for|of|to|on|from|used|by|you|requested)[ \t]+
    [^\s:=]{1,60}(?:[ \t][^\s:=]{1,40}){0,3}?)?
    (?:[ \t]{1,3}(?:[\w-]{1,20}[ \t]){0,2}?(?:(?:
    is|ist|lautet?|lauten|heißt|heisst|est|es|è|é|jest|är|er|
    was|are|has|have|been|being|now|set|reset|changed|updated|
    rotated|to|be|as|value|following|new|reads|equals|will|should)[ \t:]{1,3}){1,6}
    |(?:[ \t]{1,3}[\w'’/-]{1,20}){0,7}[ \t]{0,3}[:=\-–—>]{1,3}\s{1,3}|[ \t]\d[ \t]|[ \t]{1,3})
    (?:\r?\n[ \t]{0,20})?[\"'`“‘«(\[<*]{0,3}
    (?P<v>(?:(?!&[\w.\-]{1,40}=)[^\s\"'`“”‘’«»<>]){3,600})""",
    re.VERBOSE | re.IGNORECASE,
)
"""A value in a sentence: `the password for bob is now …`."""
NEXT_LINE = re.compile(
    r"""[^\n]{0,80}(?:\r?\n[ \t]{0,20}){1,2}
    (?:(?:```\w{0,10}|~~~|[-=*_]{3,40}|<[\w ]{1,20}>)[ \t]{0,4}(?:\r?\n[ \t]{0,20}){1,2}){0,2}
    (?:[-*>$][ \t]+)?["'*_`]{0,3}(?P<v>[^\s"'`]{6,600})["'*_`]{0,3}[ \t]{0,4}(?=\r?\n|\Z)""",
    re.VERBOSE,
)

LISTED = re.compile(
    r"""[^\n]{0,80}:?[ \t]*\n(?P<items>(?:[ \t]*\n){0,2}
    (?:[ \t]*(?:(?:[-*•]|\d{1,2}[.)])[ \t]+)?[^\s]{6,100}[ \t]*(?:\n\s?|\Z)){2,40})""",
    re.VERBOSE,
)
ITEM = re.compile(r"(?m)(\S{6,100})[ \t]*$")
PHRASE = re.compile(
    r"""[ \t]{0,3}(?:is|was|to|:|=|are)?[ \t]{0,3}(?:now[ \t])?"""
    r"""["“«](?P<v>[a-z]{2,15}(?:[ -][a-z]{2,15}){2,30})["”»]"""
)
"""A passphrase in quotes."""
DRAWN = re.compile(
    r"(?<![\w/.+=-])(?<!commit )(?<!sha )(?<!hash )(?<!digest )(?<!revision )"
    r"(?<!id=)(?<!id: )(?<!id )[\w+~-]{20,200}(?![\w/])"
)
"""A long word that may be random, and is not called a commit, a hash or an id."""
