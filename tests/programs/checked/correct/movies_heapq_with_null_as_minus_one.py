# tools: movies
# expect: none
# why: null budgets become -1 within the key function, so that nlargest never compares None
import heapq

budgets = {}

def cost(film):
    value = budgets.setdefault(film["film_id"], get_film_budget(film_id=film["film_id"])["budget_usd"])
    return -1 if value is None else value

films = search_films(title="star", from_year=1977, to_year=2015, limit=50)
for film in heapq.nlargest(3, films, key=lambda f: (cost(f), f["year"])):
    amount = budgets[film["film_id"]]
    print(film["title"], "unknown" if amount is None else format(amount, ",d"))
