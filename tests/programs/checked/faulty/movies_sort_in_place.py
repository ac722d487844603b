# tools: movies
# kind: sorted(key=…)
# expect: missing-key line 5
bars = list(get_score_histogram(film_id="fm_a2b3c"))
bars.sort(key=lambda bar: (-bar["percent"], bar["score"]))
print(bars[0]["score"])
