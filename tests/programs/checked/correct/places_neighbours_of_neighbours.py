# tools: places
# expect: none
# why: list_neighbours gives texts, so sets of its results are hashable; set.union is called with a starred generator that may be empty.
def around(country_id: str) -> frozenset:
    return frozenset(list_neighbours(country_id=country_id))


start = next((c["country_id"] for c in search_countries(query="Switzerland") if c["name"] == "Switzerland"), "")
if not start:
    print("Country not found")
else:
    near = around(start)
    beyond = set().union(*(around(n) for n in near)) - near - {start}
    names = sorted((get_country(country_id=c)["name"] for c in beyond), key=str.casefold)
    print(f"{len(near)} neighbours, {len(names)} beyond them: {', '.join(names) or 'none'}")
