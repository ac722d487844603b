# tools: flights
# expect: not-a-list line 11
# fault: the groups that itertools.groupby gives are iterators and have no len().
from itertools import groupby

fleet = search_planes(manufacturer="AIRBUS", min_seats=180, max_seats=400, page_size=200)["planes"]
by_model = lambda plane: plane["model"]

sizes = []
for model, group in groupby(sorted(fleet, key=by_model), key=by_model):
    sizes.append((len(group), model))

sizes.sort(reverse=True)
for count, model in sizes[:5]:
    print(f"{model:<12}{count:>4}")
