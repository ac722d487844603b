# tools: movies
# expect: none
# why: format fields index into the dict ({0[title]}) and cut text (.40); % formatting by names, with %s for values that may be '-'
ROW = "{0[title]:<40.40} {0[year]:>5} {1:>6}"

films = search_films(title="Hamlet", from_year=1900, limit=20)
for film in films:
    score = get_film_score(film_id=film["film_id"])
    mean_score = score["mean_score"]
    shown = "n/a" if mean_score is None else format(mean_score, ".1f")
    print(ROW.format(film, shown))
years = [film["year"] for film in films]
print("%(count)d films, %(first)s to %(last)s" % {
    "count": len(films),
    "first": min(years, default="-"),
    "last": max(years, default="-"),
})
