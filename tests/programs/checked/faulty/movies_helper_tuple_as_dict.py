# tools: movies
# kind: tuple of a helper used as dict
# expect: not-an-object line 21
def release_summary(box_office_id):
    record = get_box_office(box_office_id=box_office_id)
    film = get_film(film_id=record["film_id"])
    ratio = record["worldwide_gross_usd"] / max(record["opening_weekend_usd"], 1)
    return film["title"], record["worldwide_gross_usd"], round(ratio, 2)


summaries = []
page = 1
while True:
    result = list_box_office(year=2018, page=page, page_size=10)
    summaries += [release_summary(r["box_office_id"]) for r in result["releases"]]
    if page >= result["pages"]:
        break
    page += 1

best = max(summaries, key=lambda s: s[1])
print(f"{best['title']} took ${best[1]:,} worldwide")
