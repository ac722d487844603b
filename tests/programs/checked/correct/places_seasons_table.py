# tools: places
# expect: none
from functools import partial

lines = []
add = lines.append
show = partial("{:<6}{:>4}{:>10}".format)
add(show("season", "n", "longest"))
for season in range(1979, 1982):
    storms = list_season_storms(season=season)
    named = [s for s in storms if not s["name"].upper().startswith("AL") and s["name"].isalpha()]
    longest, days = None, -1.0
    for storm in named[:6]:
        info = get_storm(storm_id=storm["storm_id"])
        month_day = [tuple(map(int, info[k][:10].split("-")))[1:] for k in ("first_time", "last_time")]
        (m1, d1), (m2, d2) = month_day
        if (length := (m2 - m1) * 30.4 + d2 - d1) > days:
            longest, days = info["name"], length
    add(show(season, len(named), longest or "-"))
else:
    add("-" * 20)
print("\n".join(lines))
