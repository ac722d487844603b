# tools: places
# expect: none
# why: a while/else loop looks for a county page by page; the name found is bound only where the loop breaks, and the else branch leaves no use of it.
state_id = None
for state in list_us_states():
    if state["name"] == "Texas":
        state_id = state["state_id"]

if state_id is None:
    print("No such state")
else:
    number, pages = 0, 1
    while number < pages:
        number += 1
        page = list_state_counties(state_id=state_id, page=number, page_size=50)
        pages = page["pages"]
        hit = [c for c in page["counties"] if c["name"].lower().startswith("king")]
        if hit:
            county, *more = hit
            print(f"{county['name']} has the code {county['fips_code']:>5s}, {len(more)} more on page {number} of {pages}")
            break
    else:
        print("Not found on", pages, "pages")
