# tools: places
# kind: pair of dict.items() indexed with a field name
# expect: not-an-object line 15
records = {}
for query in ("La Paz", "Quito", "Lhasa"):
    fields = search_airfields(query=query, limit=3)
    for hit in fields:
        field = get_airfield(airfield_id=hit["airfield_id"])
        records[field["icao"]] = {
            "name": field["name"],
            "metres": round(field["elevation_ft"] * 0.3048),
            "zone": get_time_zone(time_zone_id=field["time_zone_id"])["name"],
        }

ranking = sorted(records.items(), key=lambda rec: rec["metres"], reverse=True)
for icao, rec in ranking[:4]:
    print(f"{icao}: {rec['name']} at {rec['metres']} m ({rec['zone']})")
