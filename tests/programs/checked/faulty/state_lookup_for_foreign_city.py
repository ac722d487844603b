# tools: places
# expect: none-value line 7
# fault: City.state_id is null outside the United States, and get_us_state's state_id must be a string
matches = search_cities(query="Birmingham", limit=5)
details = [get_city(city_id=c["city_id"]) for c in matches]
labels = {
    d["name"] + "/" + d["country_id"]: get_us_state(state_id=d["state_id"])["postal_code"]
    for d in details
    if d["population"] > 50_000
}
for label, code in labels.items():
    print(f"{label:>30} {code}")
