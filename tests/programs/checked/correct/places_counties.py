# tools: places
# expect: none
states = {state["name"]: state["state_id"] for state in list_us_states()}
texas = get_us_state(state_id=states["Texas"])
total, fips = 0, set()
for page in range(1, 1 + list_state_counties(state_id=texas["state_id"], page_size=100)["pages"]):
    for county in list_state_counties(state_id=texas["state_id"], page=page, page_size=100)["counties"]:
        total += 1
        fips.add(county["fips_code"][:2])
print(texas["postal_code"], total, fips == {texas["fips_code"]})
