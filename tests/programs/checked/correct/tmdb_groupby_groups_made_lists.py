# tools: tmdb
# expect: none
# why: the groups of itertools.groupby are iterators, but each is made a list before len and max are applied.
from itertools import groupby

shows = [s for s in GET_tv_popular().get("results", []) if s.get("original_language")]
shows.sort(key=lambda s: s["original_language"])
summary = []
for language, group in groupby(shows, key=lambda s: s["original_language"]):
    members = list(group)
    top = max(members, key=lambda s: s.get("vote_average", 0.0))
    summary.append((len(members), language, top.get("name", "?")))

for count, language, name in sorted(summary, reverse=True):
    print(f"{language}: {count:2d} shows, best is {name}")
print("total", sum(count for count, *_ in summary))
