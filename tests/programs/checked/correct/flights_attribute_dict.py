# tools: flights
# expect: none
# why: the dicts are wrapped in a dict subclass whose attributes are its keys, so a.time_zone is right; a nullable sort key is replaced by ''
class Box(dict):
    __getattr__ = dict.__getitem__


airports = [Box(get_airport(airport=a["code"])) for a in search_airports(query="Chicago", limit=5)]
for a in sorted(airports, key=lambda a: (a.time_zone or "", -a.altitude_ft)):
    print(f"{a.code} {a.name}: {a.altitude_ft} ft, {a.time_zone or 'zone unknown'}, UTC{a.utc_offset_hours:+d}")
print(len(airports), "airports")
