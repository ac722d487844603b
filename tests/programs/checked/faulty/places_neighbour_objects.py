# tools: places
# kind: ids read as objects in nested comprehension
# expect: not-an-object line 10
def country_named(name):
    return search_countries(query=name, limit=1)[0]


start = country_named("Germany")
reach = {
    second["country_id"]
    for first in list_neighbours(country_id=start["country_id"])
    for second in list_neighbours(country_id=first)
}
reach.discard(start["country_id"])
names = sorted(get_country(country_id=c)["name"] for c in reach)
print(len(names), names[:3])
