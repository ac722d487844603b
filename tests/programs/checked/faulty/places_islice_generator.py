# tools: places
# kind: generators
# expect: missing-key line 12
from itertools import islice


def observations(season):
    for storm in list_season_storms(season=season):
        yield from list_storm_track(storm_id=storm["storm_id"])["observations"]


print([o["wind_speed"] for o in islice(observations(2017), 10)])
