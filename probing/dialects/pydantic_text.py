"""The text of pydantic's ValidationError, on many lines or squeezed into one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from probing.dialects.complaint import Complaint

_HEAD = re.compile(r"\b\d{1,4} validation errors? for [^\n]{1,120}?(?=\n|\s)")
_TAG = re.compile(r"\[type=([a-z_.]{1,60}), input_value=")
_TAG_END = re.compile(r", input_type=[\w.]{1,60}\]")
_OLD = re.compile(r"(?m)^(\S[^\n]{0,200})\n {2}([^\n]{1,400}?) \(type=([\w.]{1,60})(?:; ([^\n]{0,300}))?\)$")
_MORE = re.compile(r"\s*For further information visit \S+\s*")
_MAX = 100


def read_pydantic(text: str) -> Iterator[Complaint]:
    """The complaints of both of pydantic's versions."""
    head = _HEAD.search(text)
    if head is None:
        return
    body = text[head.end() :]
    if "\n" in body and (old := list(_OLD.finditer(body))):
        for match in old[:_MAX]:
            place = tuple(match[1].replace(" -> ", "\n").split("\n"))
            yield Complaint(path=place, text=match[2], code=match[3], parameters=_parameters(match[4]))
        return
    position = 0
    for _ in range(_MAX):
        tag = _TAG.search(body, position)
        if tag is None:
            return
        said = _MORE.sub("", body[position : tag.start()]).strip()
        where, _, words = said.partition("\n" if "\n" in said else " ")
        end = _TAG_END.search(body, tag.end())
        position = end.end() if end else tag.end()
        if where and words.strip():
            yield Complaint(path=tuple(where.strip().split(".")), text=words.strip(), code=tag[1])


def _parameters(text: str | None) -> dict[str, str]:
    return dict(re.findall(r"(\w{1,40})=([^;]{1,200})", text or ""))
