# tools: flights
# expect: none
from collections import Counter
from types import SimpleNamespace


def planes_of(airline):
    result = list_airline_planes(airline=airline, page_size=200)
    pending = [p["tail_number"] for p in result["planes"]][:8]
    while pending:
        tail = pending.pop(0)
        try:
            plane = get_plane(tail_number=tail)
        except Exception:
            continue
        yield SimpleNamespace(**plane)


code = min(search_airlines(query="JetBlue"), key=lambda a: len(a["name"]))["code"]
fleet = sorted(planes_of(code), key=lambda p: (p.year_built or 0, p.model))
models = Counter(p.model for p in fleet)
if fleet:
    oldest, newest = fleet[0], fleet[-1]
    span = (newest.year_built or 2013) - (oldest.year_built or 2013)
    print(f"{code}: {len(fleet)} planes, {sum(p.seats for p in fleet)} seats, {models.total()} models counted, span {span} years")
    print(*(f"{m}x{n}" for m, n in models.items()))
else:
    print("no planes")
