# tools: places
# expect: not-a-list line 18
# fault: all_counties contains yield and so returns a generator, which has no len().
def all_counties(state_id):
    page = 1
    while True:
        chunk = list_state_counties(state_id=state_id, page=page, page_size=100)
        for county in chunk["counties"]:
            yield county["name"]
        if page >= chunk["pages"]:
            break
        page += 1


state = next((s for s in list_us_states() if s["name"] == "Louisiana"), None)
if state:
    counties = all_counties(state["state_id"])
    print(f"{state['name']} has {len(counties)} parishes")
    print("Some of them:", ", ".join(c for c in counties if c.startswith("S")))
else:
    print("State not found")
