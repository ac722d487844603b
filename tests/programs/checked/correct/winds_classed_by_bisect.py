# tools: places
# expect: none
# why: bisect on a list of limits with one name more than limits; one try/except/else/finally; a loop variable is used after the loop only where it exists
from bisect import bisect_right
from statistics import fmean, StatisticsError

LIMITS = [34, 64, 83, 96, 113, 137]
NAMES = ["depression", "storm", *map("category {}".format, range(1, 6))]

winds = []
try:
    storm = search_storms(query="Wilma", season=2005)[0]
except IndexError:
    print("not found")
else:
    pages = list_storm_track(storm_id=storm["storm_id"])["pages"]
    for n in range(1, pages + 1):
        winds += (p["wind_kt"] for p in list_storm_track(storm_id=storm["storm_id"], page=n)["observations"])
finally:
    try:
        average = f"{fmean(winds):.0f} kt"
    except StatisticsError:
        average = "unknown"

for name in NAMES:
    hours = 6 * sum(NAMES[bisect_right(LIMITS, w)] == name for w in winds)
    print(f"{name:12}{hours:5} h")
print("average wind:", average)
