"""Pages of a list: which arguments ask for them, and what a response says about further ones.

This is the only home of these names. `protocols.next_page` derives the request of the next page
from them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from protocols.naming import snake, split_words
from protocols.schema import Json, JsonObject, resolve, types
from protocols.whole_numbers import whole_number

PageRole: TypeAlias = Literal["number", "offset", "token", "size"]
"""What an argument selects: a page by its number, rows by how many come before them, a page by a
token of the service, or how many rows a page has."""

# All names below are written without separators and in lower case, see `_compact`.
_ROLES: Mapping[PageRole, frozenset[str]] = {
    "number": split_words(
        "page pagenumber pagenum pageno pagenr pageindex currentpage pg startpage"
    ),
    "offset": split_words(
        "offset skip startat startindex startoffset pageoffset recordoffset rowoffset resultoffset"
        " sysparmoffset startrow startrecord startposition firstresult firstitem"
    ),
    "token": split_words(
        "cursor pagetoken nextpagetoken nexttoken token continuationtoken continuation continue"
        " after startingafter marker nextcursor pagecursor scrollid bookmark paginationtoken"
        " skiptoken pageinfo startcursor aftercursor lastevaluatedkey exclusivestartkey idafter"
        " afterid lastid startkey fromkey pagekey cursormark nextpage next nextkey nextmarker"
        " pagestate sinceid maxid"
    ),
    "size": split_words(
        "pagesize perpage limit maxresults resultsperpage itemsperpage rowsperpage recordsperpage"
        " pagelimit maxitems maxkeys maxrecords sysparmlimit pagelength maxpagesize"
    ),
}
_AMBIGUOUS: Mapping[PageRole, frozenset[str]] = {
    "number": split_words("p"),
    "offset": split_words("start from begin"),
    "token": frozenset(),
    "size": split_words("size count first top take rows max num n length hits"),
}
"""Names that mean a page only if the argument is a whole number: `start` may also be a date."""

_HOLDERS = split_words(
    "meta metadata pagination paging pageinfo page links responsemetadata cursors cursor info"
    " paginginfo pagingmetadata listmetadata searchmetadata data result response next"
)
"""Keys of a response under which an object may say something about pages."""
_NEXT = split_words(
    "next nextpage nexturl nextlink nextpageurl nexthref nextpagelink nextpageuri nexturi"
    " odatanextlink nextcursor nextpagetoken nexttoken nextpagecursor nextoffset nextstart"
    " nextstartindex nextstartat nextskip nextkey nextpagekey nextmarker nextcontinuationtoken"
    " continuationtoken continuation scrollid bookmark lastevaluatedkey paginationtoken endcursor"
    " linknext cursornext"
)
"""Keys and headers whose value asks for the next page: an address, a token or a number."""
_NEXT_IN = {
    "cursors": split_words("after next"),
    "cursor": split_words("after next"),
    "next": split_words("after cursor token pagetoken page offset start skip href url link uri"),
    "metadata": split_words("continue"),
}
"""Further ones that mean this only under a key."""
_MORE = split_words(
    "hasmore hasnext hasnextpage more moreresults istruncated truncated hasmoreresults"
    " moreavailable hasmoreitems"
)
_MORE_ADDRESS = re.compile(r"more[a-z]*(?:url|uri|link|href)")
"""Further keys whose value is the address of the next page, such as `more_topics_url`."""
_LAST = split_words("islast islastpage lastpage last")
_PAGE = split_words("page currentpage pagenumber pageindex number")
_PAGES = split_words("pages totalpages pagecount lastpage numpages pagestotal nbpages")
_TOTALS = split_words(
    "total totalcount totalresults totalitems totalrecords totalelements totalhits totalrows"
    " totaldocs totalentries totalsize numfound pagetotal nbhits recordstotal"
)
_FILTERED = split_words("filtercount filteredcount filteredtotal totalfiltered recordsfiltered")
"""Numbers of the rows that a filter leaves. They outrank a total of all rows."""
_HEADER_PREFIX = re.compile(r"^(x|pagination|paging|wp|ms|list)(?=[a-z])")
_CONTENT_RANGE = re.compile(r"^\s*(?:[\w-]+[ =])?\s*(\d{1,15})-(\d{1,15})/(\d{1,15}|\*)\s*$")
_LINK = re.compile(r"<([^<>]*)>((?:[^,\"<]|\"(?:[^\"\\]|\\.)*\")*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;,\"']+))", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:https?:)?//|/|\?|\.{1,2}/|[\w./~-]*\?[^\s?]*=", re.IGNORECASE)
_LONGEST_LINK = 8192
_LONGEST_RANGE = 100
_LONGEST_QUOTE = 100  # characters of a response in `PageSigns.evidence`
_DEEPEST = 4
_MOST_KEYS = 200
"""Maximum number of keys of a response that are read, and of levels (`_DEEPEST`)."""
_ROW_KEYS = ("data", "items", "results", "records", "rows", "values", "entries", "value", "list")
"""Keys of the rows if a response has several lists, the most usual one first."""
_LINK_KEYS = ("link", "links")


class Rows(NamedTuple):
    """The rows of a page, and where they are in the result: the keys that lead to them."""

    path: tuple[str, ...]
    rows: list[Json]


@dataclass(slots=True)
class PageSigns:
    """Signs in a response of the page that it has, and of further pages."""

    addresses: list[str] = field(default_factory=list)
    """Addresses of the next page, which may be relative."""
    tokens: list[tuple[str, Json]] = field(default_factory=list)
    """Values that ask for the next page, each with its compact name."""
    cursors: list[tuple[str, Json]] = field(default_factory=list)
    """Values that ask for the next page or for this one."""
    page: int | None = None
    pages: int | None = None
    total: int | None = None
    range_end: int | None = None
    """Position of the last row of the page, from 0, according to `Content-Range`."""
    numbers: dict[str, int] = field(default_factory=dict)
    """All whole numbers about the page, by compact name. They may repeat arguments of the call."""
    is_last: bool = False
    """True if a field for the next page is there, without a value."""
    is_denied: bool = False
    """True if the response says in so many words that there are no more rows."""
    says_more: bool = False
    evidence: str = ""
    """A quote that shows that there are more rows, such as `page 1 of 3`; "" if nothing does."""

    @property
    def more(self) -> bool | None:
        """True if further rows are announced, False if this is the last page, else None."""
        if self.says_more and not self.is_denied:
            return True
        if self.is_last or self.is_denied:
            return False
        if self.page is not None and self.pages is not None:
            return self.page < self.pages if self.page else self.pages > 1
        if self.range_end is not None and self.total is not None:
            return self.range_end + 1 < self.total
        return None

    def ends(self, rows: int, *, from_zero: bool) -> bool:
        """Return True if the list ends with this page, whatever the page's number suggests.

        `rows` is the number of all rows up to this page. `from_zero` is True if the first page has
        the number 0, which the numbers of a later page do not show.
        """
        if self.says_more:
            return False
        if self.total is not None and rows == self.total:
            return True
        if self.page is None or self.pages is None:
            return False
        return from_zero and self.page + 1 >= self.pages


def page_role(name: str, schema: JsonObject | None = None) -> PageRole | None:
    """Return what an argument or query parameter selects, or None if it does not page.

    `schema` is its schema with references resolved. Without one, a name such as `start`, which may
    also mean something else, does not count.
    """
    compact = _compact(name)
    for role, names in _ROLES.items():
        if compact in names and not (
            role == "token" and "date" in str((schema or {}).get("format"))
        ):
            return role
    if schema is not None and set(types(schema)) & {"integer", "number"}:
        return next((role for role, names in _AMBIGUOUS.items() if compact in names), None)
    return None


def may_page(name: str) -> bool:
    """Return True if an argument of this name may page, whatever its schema says."""
    compact = _compact(name)
    return any(compact in names for table in (_ROLES, _AMBIGUOUS) for names in table.values())


def page_arguments(parameters: JsonObject, root: JsonObject) -> dict[str, PageRole]:
    """Return the role of each parameter that pages, keyed by its name, in declared order.

    `parameters` are the schemas of the parameters in the input schema `root`.
    """
    roles = {name: page_role(name, resolve(schema, root)) for name, schema in parameters.items()}
    return {name: role for name, role in roles.items() if role is not None}


def find_rows(value: Json) -> Rows | None:
    """Return the list of rows in a result, or None if it is not clear which list that is.

    The list is the result itself, its only list, or the one at a usual key such as `items`. It may
    also be in an object inside the result.
    """
    if isinstance(value, list):
        return Rows((), value)
    if not isinstance(value, Mapping):
        return None
    lists = {k: v for k, v in value.items() if isinstance(v, list) and k not in _LINK_KEYS}
    named = [key for key in _ROW_KEYS if key in lists]
    if len(lists) == 1 or named:
        key = named[0] if named else next(iter(lists))
        return Rows((key,), lists[key])
    inner = [(k, find_rows(v)) for k, v in value.items() if isinstance(v, Mapping) and not lists]
    found = [(key, rows) for key, rows in inner if rows is not None]
    if len(found) == 1:
        key, rows = found[0]
        return Rows((key, *rows.path), rows.rows)
    return None


def read_signs(value: Json, headers: Mapping[str, str]) -> PageSigns:
    """Return what a full response says about pages. `headers` are keyed by lower-case name."""
    signs = PageSigns()
    for name, text in headers.items():
        _read_header(signs, name, text)
    for holder, key, part in _about_pages(value):
        _read_field(signs, holder, _compact(key), part, shown=key)
    if signs.more and not signs.evidence:
        signs.evidence = _describe_position(signs)
    quote = " ".join(signs.evidence.split())
    signs.evidence = quote if len(quote) <= _LONGEST_QUOTE else f"{quote[: _LONGEST_QUOTE - 1]}…"
    return signs


def total_keys(value: Json) -> list[str]:
    """Return the keys of a response under which it gives the number of all rows."""
    known = _TOTALS | _FILTERED
    return [key for _, key, _ in _about_pages(value) if _compact(key) in known]


def has_page_fields(value: Json) -> bool:
    """Return True if a response has a field about pages, such as `total` or `next`."""
    known = _NEXT | _MORE | _LAST | _PAGES | _TOTALS
    return any(_compact(key) in known for _, key, _ in _about_pages(value))


def _describe_position(signs: PageSigns) -> str:
    if signs.page is not None and signs.pages is not None:
        return f"page {signs.page} of {signs.pages}"
    return f"rows to {signs.range_end} of {signs.total}"


def _read_header(signs: PageSigns, name: str, text: str) -> None:
    """Add what one header says."""
    if name == "link":
        _read_links(signs, text[:_LONGEST_LINK])
        return
    if name == "content-range":
        if found := _CONTENT_RANGE.match(text[:_LONGEST_RANGE]):
            signs.range_end = int(found[2])
            signs.total = int(found[3]) if found[3] != "*" else signs.total
        return
    compact = _compact(name)
    while (short := _HEADER_PREFIX.sub("", compact)) != compact:
        compact = short
    if not compact and text.lstrip().startswith("{"):  # X-Pagination: {"TotalCount": 130, …}
        compact = "pagination"
    if compact in ("pagination", "paging") and text.lstrip().startswith("{"):
        for holder, key, part in _about_pages(_json(text)):
            _read_field(signs, holder, _compact(key), part, shown=f"{name}: {key}")
        return
    _read_field(signs, "", compact, _plain(text), shown=f"{name}:")


def _read_links(signs: PageSigns, text: str) -> None:
    """Add the address of the next page in a `Link` header (RFC 8288)."""
    relations: set[str] = set()
    for address, attributes in _LINK.findall(text):
        rel = _REL.search(attributes)
        names = "".join(filter(None, rel.groups())).lower().split() if rel is not None else []
        relations.update(names)
        if "next" in names and address not in signs.addresses:
            signs.addresses.append(address)
            signs.says_more = True
            signs.evidence = signs.evidence or f'link: <{address}>; rel="next"'
    if relations & {"first", "prev", "previous", "last"} and "next" not in relations:
        signs.is_last = True


def _plain(text: str) -> Json:
    """Return the value of a header as a whole number or a truth value, if it is one."""
    text = text.strip()
    number = whole_number(text)
    return {"true": True, "false": False}.get(text.lower(), text) if number is None else number


def _json(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _about_pages(value: Json) -> Iterator[tuple[str, str, Json]]:
    """Yield (compact key above it, key, value) for the fields of a response outside its rows.

    Objects inside are read if they contain the rows, if their key may hold something about pages,
    or if there is no other. Of another object with a list, only what asks for the next page counts.
    """
    level: list[tuple[str, Any]] = [("", value)] if isinstance(value, Mapping) else []
    found = find_rows(value)
    to_rows = () if found is None else found.path[:-1]
    left = _MOST_KEYS
    for depth in range(_DEEPEST):
        inner = []
        for holder, part in level:
            for key, item in list(part.items())[:left]:
                left -= 1
                yield holder, key, item
                if not isinstance(item, Mapping):
                    continue
                compact = _compact(key)
                holds_rows = depth < len(to_rows) and to_rows[depth] == key
                if holds_rows or compact in _HOLDERS or len(part) == 1:
                    inner.append((compact, item))
                elif any(isinstance(one, list) for one in islice(item.values(), _MOST_KEYS)):
                    yield from _only_next(compact, item)
        level = inner


def _only_next(holder: str, part: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
    """Yield those fields of an object that say in so many words that there is a next page."""
    for key, item in islice(part.items(), _MOST_KEYS):
        compact = _compact(key)
        if compact in _MORE or _MORE_ADDRESS.fullmatch(compact):
            yield holder, key, item


def _read_field(signs: PageSigns, holder: str, key: str, value: Json, *, shown: str) -> None:
    """Add what one field says. `key` and `holder`, the key above it, are compact."""
    if key in _TOTALS and isinstance(value, Mapping):  # {"total": {"value": 130, "relation": "eq"}}
        value = value.get("value")
    number = None if isinstance(value, str) else whole_number(value)
    if number is not None:
        signs.numbers.setdefault(key, number)
        _read_number(signs, key, number)
    quote = f"{shown} {value!r}" if shown.endswith(":") else f"{shown} = {value!r}"
    if key in _MORE and isinstance(value, bool | int):
        _note_flag(signs, quote, more=bool(value))
    elif key in _LAST and isinstance(value, bool):
        _note_flag(signs, quote, more=not value)
    elif key in _NEXT or key in _NEXT_IN.get(holder, ()) or _MORE_ADDRESS.fullmatch(key):
        _note_next(signs, key, value, quote)
    elif key == "continue" and isinstance(value, Mapping) and value:
        _note_flag(signs, quote[:_LONGEST_QUOTE], more=True)
    elif key == "cursor" and isinstance(value, str | int) and value:
        signs.cursors.append((key, value))
    elif key in _LINK_KEYS and isinstance(value, list):
        for link in value[:_MOST_KEYS]:
            if isinstance(link, Mapping) and "next" in (link.get("rel"), link.get("relation")):
                address = link.get("href") or link.get("url")
                _note_next(signs, "next", address, f"next = {address!r}")


def _read_number(signs: PageSigns, key: str, value: int) -> None:
    if key in _PAGES:
        signs.pages = value
    elif key in _PAGE and signs.page is None:
        signs.page = value
    elif key in _FILTERED or (key in _TOTALS and signs.total is None):
        signs.total = value


def _note_flag(signs: PageSigns, quote: str, *, more: bool) -> None:
    """Note a field that says by a truth value whether there are more rows. "No" outranks all."""
    if not more:
        signs.is_denied = True
        return
    signs.says_more = True
    signs.evidence = signs.evidence or quote


def _note_next(signs: PageSigns, key: str, value: Json, quote: str) -> None:
    """Note a field that is there for the next page. Without a value, this is the last page."""
    if value in (None, "", False, 0, [], {}, "null"):
        signs.is_last = True
        return
    if isinstance(value, list) or (isinstance(value, Mapping) and key != "lastevaluatedkey"):
        return  # the address in an object is read as a field of its own
    if isinstance(value, str) and _ADDRESS.match(value):
        signs.addresses.append(value)
    elif value is not True:
        signs.tokens.append((key, value))
    signs.says_more = True
    signs.evidence = signs.evidence or quote


def _compact(name: str) -> str:
    return snake(str(name)).replace("_", "")
