# tools: places
# expect: none-value line 13
# fault: category is null unless the storm was a hurricane at that time, so max() over the two categories compares None with an int (or None with None) and raises TypeError
def reading(observation_id):
    return get_observation(observation_id=observation_id)


strongest = 0
label = "none"
for storm in list_season_storms(season=2017):
    full = get_storm(storm_id=storm["storm_id"])
    ends = [reading(full[k]) for k in ("first_observation_id", "last_observation_id")]
    category = max(o["category"] for o in ends)
    if category > strongest:
        strongest, label = category, storm["name"]

print(f"Strongest at its first or last observation: {label} ({strongest})")
