# tools: places
# kind: .get()
# expect: missing-key line 6
zones = list_country_time_zones(country_id="co_a2b3c")
first = zones[0] if zones else {}
print(first.get("name", "?"), first.get("utc_offset", 0))
