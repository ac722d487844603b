# tools: baseball
# expect: none
salaries = list_player_salaries(player_id="pl_a2b3c")
by_year: dict[int, int] = {}
for salary in salaries:
    by_year[salary["season"]] = by_year.get(salary["season"], 0) + salary["salary_usd"]
rises = [(year, by_year[year] - by_year[year - 1]) for year in by_year if year - 1 in by_year]
print(max(rises, key=lambda r: r[1], default=(None, 0)))
print(sum(by_year.values()) // max(len(by_year), 1))
