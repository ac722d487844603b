# tools: tmdb
# expect: none
def counter():
    calls = 0

    def note(value):
        nonlocal calls
        calls += 1
        return value

    def seen():
        return calls

    return note, seen

note, seen = counter()
studio, *_ = GET_search_company(query="Studio Ghibli")["results"]
company = note(GET_company_company_id(company_id=studio["id"]))
films = note(GET_discover_movie(**{"with_companies": str(company["id"]), "primary_release_date_gte": "1990-01-01"}))
budgets = []
for film in films["results"]:
    detail = note(GET_movie_movie_id(movie_id=film["id"]))
    if not (detail["budget"] and detail["revenue"]):
        continue
    budgets.append((detail["revenue"] / detail["budget"], detail["title"], [c["name"] for c in detail["production_companies"]]))
else:
    budgets.sort()
print(company["name"], company["headquarters"], seen(), budgets[-1][1] if budgets else None)
