# tools: flights
# expect: missing-key line 15
# fault: the keys of by_origin are the codes EWR, JFK, LGA, so looking it up by the name 'Newark' raises KeyError
names = {"EWR": "Newark", "JFK": "Kennedy", "LGA": "LaGuardia"}
by_origin = {code: [] for code in names}
page, more = 1, True
while more:
    answer = list_cancelled_flights(date="2013-02-09", page=page, page_size=200)
    for flight in answer["flights"]:
        by_origin[flight["origin"]].append(flight["destination"])
    more = page < answer["pages"]
    page += 1

for code, name in names.items():
    lost = by_origin[name]
    print(f"{name}: {len(lost)} cancelled, to {len(set(lost))} airports")
