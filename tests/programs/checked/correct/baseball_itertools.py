# tools: baseball
# expect: none
from itertools import accumulate, chain, count, dropwhile, groupby, pairwise, starmap, takewhile, zip_longest
from operator import itemgetter, sub

salaries = list_player_salaries(player_id="pl_a2b3c")
amounts = list(map(itemgetter("salary_usd"), salaries))
rises = list(starmap(lambda a, b: b["salary_usd"] - a["salary_usd"], pairwise(salaries)))
early = takewhile(lambda s: s["season"] < 1995, salaries)
late = dropwhile(lambda s: s["season"] < 1995, salaries)
print(list(accumulate(amounts))[-1:], max(rises, default=0), [s["season"] for s in chain(early, late)])
for team_id, group in groupby(salaries, key=itemgetter("team_id")):
    years = [s["season"] for s in group]
    print(team_id, years[0], years[-1])
for number, salary in zip(count(1), salaries):
    print(number, salary["season"])
print(list(zip_longest(amounts, rises, fillvalue=0))[:2], list(map(sub, amounts[1:], amounts)))
