# tools: places
# expect: none
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypedDict


class Row(TypedDict, total=False):
    name: str
    wind: int


def pages(tool: Callable[..., dict[str, Any]], key: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    page = 1
    while True:
        answer = tool(page=page, **arguments)
        yield from answer[key]
        if page >= answer["pages"]:
            return
        page += 1


rows: list[Row] = []
for storm in search_storms(query="Maria"):
    track = list(pages(list_storm_track, "observations", storm_id=storm["storm_id"]))
    rows.append(Row(name=storm["name"], wind=max(point["wind_kt"] for point in track)))
print(sorted(rows, key=lambda row: row["wind"])[-1]["name"], sum(1 for _ in pages(list_country_cities, "cities", country_id="co_a2b3c")))
