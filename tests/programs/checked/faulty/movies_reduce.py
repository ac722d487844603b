# tools: movies
# kind: functools.reduce
# expect: missing-key line 6
from functools import reduce

share = reduce(lambda total, bar: total + bar["share"], get_score_histogram(film_id="fm_a2b3c"), 0.0)
print(share)
