# tools: movies
# expect: none
from collections import ChainMap, Counter
from functools import reduce

titles = {"Alien": 1979, "Aliens": 1986}
shares = {}
for title, year in titles.items():
    film = search_films(title=title, from_year=year, to_year=year, limit=1)[0]
    bars = get_score_histogram(film_id=film["film_id"])
    shares[title] = Counter({str(bar["score"]): bar["share_percent"] for bar in bars})

total = reduce(lambda a, b: a + b, shares.values(), Counter())
mode, weight = total.most_common(1)[0]
label = {"10": "ten", "9": "nine", "8": "eight"}.get(mode, mode)
defaults = ChainMap({t: c.get("1", 0) for t, c in shares.items()}, {"Alien 3": 0})
worst = max(defaults, key=defaults.__getitem__)
print(f"most common score {label} ({weight / len(titles):.1f}%), most ones: {worst}, ten: {total['10'] > total['1']}")
