"""Derives the request of the next page of a list from a call and its response.

A next page is asked for in one of two ways. Either an argument changes, such as `page` or `cursor`.
Or the service has named an address, of which only the query is used: the request goes to the
address of the call itself, whatever the service names. An address of another origin or path is not
used at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias
from urllib.parse import parse_qsl, unquote, urljoin

from protocols.effects.verbs import ACTING, name_words
from protocols.errors import AtcError, ToolError
from protocols.http.credentials import MASK
from protocols.http.request import RequestBuilder
from protocols.pagination import (
    PageRole,
    PageSigns,
    find_rows,
    page_arguments,
    page_role,
    read_signs,
)
from protocols.protocol import HttpBinding
from protocols.schema import Json, JsonObject, resolve, types
from protocols.tool import Tool
from protocols.urls import split_url
from protocols.whole_numbers import whole_number

_AFTER_ID = ("startingafter", "afterid", "idafter", "lastid", "after", "sinceid", "marker")
"""Compact names of arguments that take the id of the last row."""
_FROM_ZERO = re.compile(
    r"\b(?:zero|0)[- ](?:based|indexed)|\b(?:starts?|starting|begins?|counts?|counted)"
    r" (?:at|from|with) (?:0|zero)\b|\bfirst page (?:is|has) (?:the number )?0\b",
    re.IGNORECASE,
)
_SHOWN = 120  # characters of an address in a message
_MOST_FIELDS = 1000  # of the query of an address


class Page(NamedTuple):
    """A call that returned one page, with its response."""

    arguments: JsonObject
    """The arguments of the call, keyed by alias."""
    query: JsonObject
    """Values that the query of the call had besides its arguments."""
    value: Json
    """The full response, before unwrapping."""
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NextPage:
    """The request of the next page: `arguments` keyed by alias, and further values of the query.

    If it is not `announced`, the response does not say that such a page exists.
    """

    arguments: JsonObject
    query: JsonObject = field(default_factory=dict)
    announced: bool = True
    evidence: str = ""
    may_repeat: bool = False
    """True if it may return the first page again: it is not known if that one is 0 or 1."""


@dataclass(frozen=True, slots=True)
class UnreadablePage:
    """A next page that is announced but is not requested. `why` is a clause that says why."""

    why: str
    evidence: str


Following: TypeAlias = NextPage | UnreadablePage | None
"""What follows a page. None: nothing, as far as the response says and the tool allows to ask."""


def next_page(tool: Tool, page: Page) -> Following:
    """Return the request of the page after `page`, a successful call of `tool`."""
    signs = read_signs(page.value, page.headers)
    if signs.more is False:
        return None
    schemas = {
        alias: resolve(tool.protocol.parameters[name], tool.protocol.input_schema)
        for alias, name in tool.arguments.items()
    }
    roles = page_arguments(schemas, tool.protocol.input_schema)
    asking = _Asking(tool, page, signs, schemas, roles)
    refused: UnreadablePage | None = None
    for address in signs.addresses:
        following = asking.by_address(address)
        if isinstance(following, NextPage):
            return following
        refused = refused or following
    found = asking.by_token() or asking.by_last_id() or asking.by_position()
    if found is not None:
        return found
    if refused is not None:
        return refused
    turns = any(role != "size" for role in roles.values())
    is_announced = signs.more and _has_list(page.value)
    if is_announced or _shows_fewer(tool, page, signs if turns else read_signs(None, page.headers)):
        how = "nothing in the response asks for it" if turns else "no argument asks for it"
        return UnreadablePage(how, signs.evidence or describe_total(tool, page, signs))
    return None


def _has_list(value: Json) -> bool:
    """Return True if a response is a list, or has one at its top or one level below.

    A field such as `more` of a single record does not speak of pages.
    """
    if not isinstance(value, Mapping):
        return isinstance(value, list)
    parts = list(value.values())
    inner = [item for part in parts if isinstance(part, Mapping) for item in part.values()]
    return any(isinstance(part, list) for part in (*parts, *inner))


def describe_total(tool: Tool, page: Page, signs: PageSigns) -> str:
    """Return how many of all rows a page has, such as `100 of 130`, or "" if that is unknown."""
    rows = find_rows(tool.unwrap(page.value))
    return "" if rows is None or signs.total is None else f"{len(rows.rows)} of {signs.total}"


def _shows_fewer(tool: Tool, page: Page, signs: PageSigns) -> bool:
    """Return True if the first page of a list has fewer rows than the total that it gives."""
    rows = find_rows(tool.unwrap(page.value))
    if page.query or any((page_role(name) or "size") != "size" for name in page.arguments):
        return False
    return signs.total is not None and rows is not None and 0 < len(rows.rows) < signs.total


@dataclass(frozen=True, slots=True)
class _Asking:
    """The ways in which a tool can be asked for the page after `page`."""

    tool: Tool
    page: Page
    signs: PageSigns
    schemas: Mapping[str, JsonObject]
    """The schema of each argument, keyed by alias."""
    roles: Mapping[str, PageRole]
    """The role of each argument that pages, keyed by alias."""

    # --- by an address

    def by_address(self, address: str) -> NextPage | UnreadablePage | None:
        """Return the request for an address that the service names, if it may be sent."""
        binding = self.tool.protocol.binding
        if not isinstance(binding, HttpBinding):
            return None
        evidence = self.signs.evidence

        def refuse(why: str) -> UnreadablePage:
            return UnreadablePage(why, evidence)

        shown = _show(address)
        try:
            original = self.tool.original_arguments(self.page.arguments)
            own = RequestBuilder(self.tool.protocol, binding).build(original).url
            origin, rest = split_url(own)
            goal, target = split_url(urljoin(own, address))
        except (AtcError, ToolError, ValueError):
            return refuse(f"its address {shown} is no http(s) address without a login")
        if goal != origin:
            return refuse(f"its address {shown} has another origin than {origin.url}")
        path, _, query = target.partition("?")
        if _plain_path(path) != _plain_path(rest.partition("?")[0]):
            return refuse(f"its address {shown} has another path than the call")
        return self._with_query(binding, query, fixed=_fixed_names(binding), shown=shown)

    def _with_query(
        self, binding: HttpBinding, text: str, *, fixed: frozenset[str], shown: str
    ) -> NextPage | UnreadablePage:
        """Return the request with the query of an address.

        Values that the program gave stay, unless they page or nothing else changes. A new name must
        be that of a declared parameter or of one that pages: any other one might ask for something
        else than this list, and the tool was classified as a read without it.
        """
        places = {
            binding.wire_name(name): alias
            for alias, name in self.tool.arguments.items()
            if binding.location(name) == "query"
        }
        grouped: defaultdict[str, list[str]] = defaultdict(list)
        try:
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            why = f"the query of its address {shown} has more than {_MOST_FIELDS} fields"
            return UnreadablePage(why, self.signs.evidence)
        for name, value in pairs:
            grouped[name].append(value)
        arguments = dict(self.page.arguments)
        query = dict(self.page.query)
        for name, values in grouped.items():
            alias = places.get(name) or places.get(name.removesuffix("[]"))
            if name in fixed or any(MASK in value for value in values):
                continue  # a part of the tool's own address, or a credential, which the host adds
            if alias is not None:
                if alias in self.roles or alias not in arguments:
                    arguments[alias] = self._typed(alias, values)
            elif name in query or page_role(name) is not None or _is_page_like(name):
                query[name] = values[0] if len(values) == 1 else values
            else:
                added = _show(name)
                why = f"its address {shown} adds {added}, which the document does not declare"
                return UnreadablePage(why, self.signs.evidence)
        if (arguments, query) == (self.page.arguments, self.page.query):
            # Only arguments changed that do not look as if they paged, such as `last` or `since`.
            named = {places[name]: values for name, values in grouped.items() if name in places}
            kept = {alias: values for alias, values in named.items() if alias in arguments}
            arguments |= {alias: self._typed(alias, values) for alias, values in kept.items()}
        return NextPage(arguments, query, evidence=self.signs.evidence)

    # --- by an argument

    def by_token(self) -> NextPage | None:
        """Return the request with a token or number of the response, if an argument takes it."""
        given = self.page.arguments
        weak = [one for one in self.signs.cursors if one[1] not in given.values()]
        for name, token in (*self.signs.tokens, *weak):
            alias = self._argument_for_token(name, token)
            if alias is not None:
                evidence = self.signs.evidence or f"{name} = {token!r}"
                return NextPage(
                    {**given, alias: self._typed(alias, [token])},
                    self.page.query,
                    evidence=evidence,
                )
        return None

    def _argument_for_token(self, name: str, token: Json) -> str | None:
        """Return the alias of the argument that takes a token with this compact name, or None."""
        short = name.removeprefix("next") or name
        compact = {alias: alias.replace("_", "").lower() for alias in self.roles}
        for wanted in (name, short):
            if alias := next((a for a, text in compact.items() if text == wanted), None):
                return alias
        wanted_role: PageRole = "number" if short in ("page", "next") else "offset"
        by_number = [alias for alias, role in self.roles.items() if role == wanted_role]
        if by_number and whole_number(token) is not None:
            return by_number[0]
        tokens = [alias for alias, role in self.roles.items() if role == "token"]
        near = [a for a in tokens if compact[a].endswith(short) or short.endswith(compact[a])]
        return next(iter(near or tokens), None)

    def by_last_id(self) -> NextPage | None:
        """Return the request for the rows after the last one, if an argument takes its id."""
        rows = find_rows(self.tool.unwrap(self.page.value))
        if not self.signs.more or rows is None or not rows.rows:
            return None
        last = rows.rows[-1]
        key = last.get("id") if isinstance(last, Mapping) else None
        for alias in self.roles:
            if alias.replace("_", "").lower() in _AFTER_ID and isinstance(key, str | int):
                arguments = {**self.page.arguments, alias: self._typed(alias, [key])}
                return NextPage(arguments, self.page.query, evidence=self.signs.evidence)
        return None

    def by_position(self) -> NextPage | None:
        """Return the request for the next page number, or for the rows after those that came."""
        rows = find_rows(self.tool.unwrap(self.page.value))
        if rows is not None and not rows.rows:
            return None
        if rows is None and not self.signs.more:
            return None
        for alias, role in self.roles.items():
            number: int | None = None
            if role == "number":
                number = self._next_number(alias)
            elif role == "offset" and rows is not None:
                number = (self._position(alias) or 0) + len(rows.rows)
            if number is not None:
                evidence = self.signs.evidence or describe_total(self.tool, self.page, self.signs)
                return NextPage(
                    {**self.page.arguments, alias: self._typed(alias, [number])},
                    self.page.query,
                    announced=self.signs.more is True,
                    evidence=evidence,
                    may_repeat=role == "number" and self._position(alias) is None,
                )
        return None

    def _next_number(self, alias: str) -> int:
        """Return the number of the next page, or 1 if the number of this one is not known."""
        here = self._position(alias)
        return 1 if here is None else here + 1

    def _position(self, alias: str) -> int | None:
        """Return the value of the argument `alias` that leads to this page, or None."""
        schema = self.schemas[alias]
        echo = self.signs.numbers.get(alias.replace("_", "").lower())
        named = (self.page.arguments.get(alias), schema.get("default"), echo)
        for value in named:
            if (number := whole_number(value)) is not None:
                return number
        if self.roles[alias] == "number" and self.signs.page is not None:
            return self.signs.page
        if _FROM_ZERO.search(str(schema.get("description", ""))):
            return 0
        least = schema.get("minimum")
        return least if isinstance(least, int) and least in (0, 1) else None

    def _typed(self, alias: str, values: list[Json]) -> Json:
        """Return a value of a response or an address as the argument's schema wants it."""
        wanted = types(self.schemas[alias])
        if "array" in wanted and "string" not in wanted:
            return values
        value = values[0]
        number = whole_number(value)
        if number is not None and "string" not in wanted and wanted:
            return number
        if isinstance(value, int) and not isinstance(value, bool) and wanted == ("string",):
            return str(value)
        if isinstance(value, str) and wanted == ("boolean",):
            return value.lower() in ("true", "1")
        return value


def _plain_path(path: str) -> str:
    return unquote(path).rstrip("/") or "/"


def _fixed_names(binding: HttpBinding) -> frozenset[str]:
    """Return the names that the tool's own address has in its query, and those of credentials."""
    query = binding.url.partition("?")[2]
    fixed = {pair.partition("=")[0] for pair in query.split("&") if pair}
    for scheme in binding.schemes.values():
        if scheme.get("in") == "query":
            fixed.add(str(scheme.get("name")))
    return frozenset(fixed)


def _is_page_like(name: str) -> bool:
    """Return True if a query parameter that nothing declares says where a list continues.

    One whose name has a verb, such as `delete_page`, might do something else.
    """
    words = {*name_words(name)}
    paging = {"cursor", "page", "offset", "marker", "skiptoken", "bookmark"}
    return bool(paging & words) and not words & (ACTING | {"method"})


def _show(text: str) -> str:
    """Return a text of the service in quotes, cut to the length that a message may have."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
