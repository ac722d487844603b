# tools: tmdb
# expect: no-attribute line 14
# fault: origin_country of GET_tv_tv_id is a list of texts, which has no method upper; only its elements have it.
RATE = "{name:<30} {country:<4} {episodes:>4}"

rows = []
for show in GET_tv_on_the_air().get("results", [])[:8]:
    if "id" not in show:
        continue
    details = GET_tv_tv_id(tv_id=show["id"])
    country = details.get("origin_country") or ["??"]
    rows.append({
        "name": details.get("name", "?")[:30],
        "country": country.upper(),
        "episodes": details.get("number_of_episodes", 0),
    })

for row in sorted(rows, key=lambda r: r["episodes"]):
    print(RATE.format(**row))
