# tools: movies
# kind: formatting with %
# expect: missing-key line 5
for bar in get_score_histogram(film_id="fm_a2b3c"):
    print("%2d %s %.1f%%" % (bar["score"], "#" * 3, bar["share"]))
