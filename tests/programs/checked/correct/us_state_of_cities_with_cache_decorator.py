# tools: places
# expect: none
# why: own decorator around a tool call and nonlocal counters; the nullable state_id is tested inside the filter of the comprehension that uses it
from functools import wraps


def remembered(function):
    memory, calls = {}, 0

    @wraps(function)
    def inner(key):
        nonlocal calls
        if key not in memory:
            calls += 1
            memory[key] = function(key)
        return memory[key]

    inner.calls = lambda: calls
    return inner


@remembered
def postal(state_id):
    return get_us_state(state_id=state_id)["postal_code"]


cities = [get_city(city_id=c["city_id"]) for c in search_cities(query="Springfield", limit=50)]
labels = [f'{c["name"]}, {postal(sid)}' for c in cities if (sid := c["state_id"])]
print("; ".join(labels) if labels else "none in the United States")
print("states asked:", postal.calls(), "of", len({c["state_id"] for c in cities} - {None}))
