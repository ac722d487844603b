# tools: places
# expect: missing-key line 6
# fault: the mapping pattern asks for a key "city", which an Airfield has not (its town is municipality), so the case can never match.
def describe(airfield_id):
    match get_airfield(airfield_id=airfield_id):
        case {"iata": str() as code, "city": town, "elevation_ft": feet}:
            return f"{code} serves {town}, {feet} ft above the sea"
        case {"iata": None, "icao": icao}:
            return f"{icao} has no IATA code"
        case _:
            return "unknown"


lands = search_countries(query="Bolivia", limit=1)
if lands:
    page = list_country_airfields(country_id=lands[0]["country_id"], codes="iata", min_elevation_ft=10000)
    for row in page["airfields"]:
        print(describe(row["airfield_id"]))
else:
    print("Country not found")
