# tools: movies
# expect: none
ids = {f["title"]: f["film_id"] for f in search_films(title="Godfather", from_year=1970, to_year=1992, limit=3)}
bars = {t: [b["share_percent"] for b in get_score_histogram(film_id=i)] for t, i in ids.items()}
for score, shares in enumerate(zip(*bars.values()), 1):
    if score == 10:
        leader, share = max(zip(bars, shares), key=lambda pair: pair[1])
        print(f"{leader}: {share}% gave {score}")
tens = {title: values[-1] for title, values in bars.items()}
assert all(isinstance(v, (int, float)) for v in tens.values())
print(*sorted(tens, key=tens.__getitem__, reverse=True), sep=" / ")
