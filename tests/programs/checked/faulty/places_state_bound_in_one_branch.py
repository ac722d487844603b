# tools: places
# expect: used-before-assignment line 14
# fault: state is assigned only where state_id is not null; where the first city lies outside the United States the last line uses a name never defined.
matches = search_cities(query="Springfield", limit=1)
if not matches:
    print("No such city")
else:
    city = get_city(city_id=matches[0]["city_id"])
    zone = get_time_zone(time_zone_id=city["time_zone_id"])
    if city["state_id"] is not None:
        state = get_us_state(state_id=city["state_id"])
        counties = list_state_counties(state_id=city["state_id"], page_size=1)
        print(f"{state['name']} has {counties['total']} counties")
    print(f"{city['name']}, {state['postal_code']} ({zone['name']}): {city['population']:,}")
