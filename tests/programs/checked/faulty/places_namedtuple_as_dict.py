# tools: places
# kind: namedtuple indexed with a field name
# expect: not-an-object line 18
from collections import namedtuple

State = namedtuple("State", "name postal counties big_cities")


def describe(state_id):
    info = get_us_state(state_id=state_id)
    counties = list_state_counties(state_id=state_id, page_size=1)["total"]
    cities = list_state_cities(state_id=state_id, min_population=100_000, page_size=1)["total"]
    return State(info["name"], info["postal_code"], counties, cities)


wanted = {"Iowa", "Ohio", "Utah"}
states = [describe(s["state_id"]) for s in list_us_states() if s["name"] in wanted]
states.sort(key=lambda s: s["big_cities"] / s.counties, reverse=True)
for s in states:
    print(f"{s.name} ({s.postal}): {s.big_cities} big cities in {s.counties} counties")
