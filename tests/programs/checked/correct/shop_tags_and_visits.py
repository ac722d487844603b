# tools: shop
# expect: none
from datetime import date, timedelta


def all_tags():
    page = 1
    while True:
        part = page_of_tags(page=page)
        yield from part["tags"]
        if not part["more"]:
            break
        page = part["page"] + 1


tags = sorted({t.strip().lower() for t in all_tags()})
start = date(2024, 12, 1)
visits = {d.isoformat(): count_visits(day=str(d)) for d in (start + timedelta(n) for n in range(7))}
peak = max(visits, key=lambda d: visits[d])
heading = get_text(name="weekly_report").splitlines() or ["Report"]
print(heading[0].title(), f"{len(tags)} tags", sep=": ")
print(f"{peak[8:]}.{peak[5:7]}. had {visits[peak]} of {sum(visits.values())} visits")
log_event(payload={"tags": tags[:10], "peak": {"day": peak, "visits": visits[peak]}, "ok": True})
