# tools: tmdb
# expect: missing-argument line 14
# fault: label takes two arguments without defaults, but map calls it with one.
def label(show: dict, width: int) -> str:
    name = show.get("name", "?")
    short = name if len(name) <= width else name[: width - 3] + "..."
    countries = ",".join(show.get("origin_country", []))
    return f"{short:<{width}} {countries}"


shows = GET_tv_airing_today().get("results", [])
popular = [s for s in shows if s.get("popularity", 0) >= 50]
print(f"{len(popular)} of {len(shows)} shows")
for line in map(label, popular):
    print(line)
