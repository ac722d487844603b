# tools: places
# expect: wrong-argument-type line 18
# fault: 250 miles are 402 km, which is passed as radius_km, while list_cities_near allows 300 at most.
KM_PER_MILE = 1.609344


def circle(center, miles):
    return {
        "latitude": center["latitude"],
        "longitude": center["longitude"],
        "radius_km": round(miles * KM_PER_MILE, 1),
    }


found = search_airfields(query="ATL", limit=1)
if found:
    field = get_airfield(airfield_id=found[0]["airfield_id"])
    big = list_cities_near(**circle(field, 250), min_population=200_000)
    for c in big["cities"]:
        print(get_city(city_id=c["city_id"])["name"], f"{c['distance_km'] / KM_PER_MILE:.0f} mi")
else:
    print("Airfield not found")
