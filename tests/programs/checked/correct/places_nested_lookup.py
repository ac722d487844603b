# tools: places
# expect: none
def resolve(record, *steps):
    """Follows ids: each step is (field, tool, argument)."""
    for field, tool, argument in steps:
        value = record.get(field)
        if value is None:
            return {}
        record = tool(**{argument: value})
    return record


steps = [("country_id", get_country, "country_id"), ("capital_city_id", get_city, "city_id"), ("time_zone_id", get_time_zone, "time_zone_id")]
out = {}
for query in ["Osaka", "Braga", "Cusco"]:
    hits = search_cities(query=query, limit=1)
    city = hits[0] if hits else {}
    out[query] = resolve(city, *steps).get("name", "unknown").rpartition("/")[2].replace("_", " ")
print(" | ".join(f"{k} -> {v}" for k, v in out.items()))
