"""Recognition of texts that are plainly one query which only reads, in SQL or GraphQL.

Only evident cases count. A text that might change data is left to a person, since a service that is
reached by a GET may still execute all that its database can do.
"""

from __future__ import annotations

import re

_BEGINNING = re.compile(
    r"[\s(]*(?:(?:select|show|describe|query)\b|explain\b(?=.*\bselect\b)"
    r"|with\b(?=.*\bselect\b)|\{)",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST = 20_000
"""Maximum number of characters. Longer texts are not searched."""
_MORE = re.compile(r";\s*\S|/\*|--|#|\bu&[\"']", re.IGNORECASE)
"""A further statement, a comment, or a name in escapes. Some databases execute comments."""
_CHANGING = re.compile(
    r"\b(?:insert|update|delete|drop|alter|create|copy|call|set|grant|revoke|truncate|merge|vacuum"
    r"|do|exec|execute|attach|detach|pragma|into|lock|outfile|dumpfile|mutation|subscription)\b",
    re.IGNORECASE,
)
_ACTING_FUNCTION = re.compile(
    r"\b(?:pg_(?!typeof|size_pretty|get_|\w*_size\b)\w+|dblink\w*|lo_\w+|[xs]p_\w+|dbms_\w+|utl_\w+"
    r"|sys_e\w+|load_extension|load_file|readfile|writefile|edit|fts3_tokenizer|sleep|benchmark"
    r"|get_lock|set_config|setval|nextval|(?:query|cursor|table|database|schema)_to_xml\w*"
    r"|httpuritype|http\w*|url\w*|file\w*|remote\w*|cluster\w*|executable|s3\w*|mysql|postgresql"
    r"|odbc|jdbc|open(?:rowset|query|datasource)|read_\w+|\w+_scan)[\"'`\]]?\s*\(",
    re.IGNORECASE,
)
"""A call of a function that does more than compute: it ends sessions, waits, changes a setting,
executes a text, or reaches files and other machines.
"""


def is_reading_query(text: str) -> bool:
    """Return True if a text is plainly one statement that only reads: `SELECT …`, `{ orders }`.

    The words in quotations count, too, since databases disagree about where a quotation ends.
    """
    return (
        len(text) <= _LONGEST
        and _BEGINNING.match(text) is not None
        and not any(found.search(text) for found in (_MORE, _CHANGING, _ACTING_FUNCTION))
    )
