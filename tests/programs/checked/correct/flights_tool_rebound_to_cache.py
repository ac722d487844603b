# tools: flights
# expect: none
# why: the tool's name is bound anew to its cached version, which is called with the same keyword and has cache_info; fill characters in format codes
import functools
from collections import Counter

get_airline = functools.cache(get_airline)


def name(code):
    return get_airline(airline=code)["name"]


tally = Counter(
    f["airline"]
    for day in range(1, 8)
    for f in list_cancelled_flights(date=f"2013-02-{day:02}", page_size=200)["flights"]
)
for code, number in tally.most_common(3):
    print(f"{name(code):.<30}{number:.>5}")
names = sorted(map(name, tally))
print(len(names), "airlines,", get_airline.cache_info().misses, "look-ups")
