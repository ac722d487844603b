# tools: tmdb
# expect: bad-literal line 5
# fault: the third round builds sort_by "rating.desc", which is not among the values that GET_discover_movie allows (vote_average.desc is).
def leader(order):
    page = GET_discover_movie(sort_by=order, primary_release_year=2010, vote_count_gte=200)
    first = next(iter(page.get("results", [])), {})
    return first.get("title", "nobody knows")


CRITERIA = ["popularity", "revenue", "rating"]
report = {name: leader(f"{name}.desc") for name in CRITERIA}
for name, title in report.items():
    print(f"Top of 2010 by {name:>10}: {title}")
