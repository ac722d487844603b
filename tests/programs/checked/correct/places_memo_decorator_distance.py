# tools: places
# expect: none
# why: get_distance gives a float, reached through a memo decorator with *args as key; the arguments become keywords in the wrapped function.
def memo(fn):
    known = {}

    def wrapper(*ids):
        key = tuple(sorted(ids))
        if key not in known:
            known[key] = fn(*key)
        return known[key]

    wrapper.known = known
    return wrapper


@memo
def km(a, b):
    return get_distance(from_place_id=a, to_place_id=b)


cities = [c for name in ("Paris", "Lyon", "Nice") for c in search_cities(query=name, limit=1)]
tour = [*cities, *cities[:1]]
length = sum(km(a["city_id"], b["city_id"]) for a, b in zip(tour, tour[1:]))
print(f"Round trip of {length:.0f} km over {len(cities)} cities, {len(km.known)} distances asked")
