# tools: baseball
# expect: none
# why: sorting by a nullable field is right here because the key's first part keeps None and int apart
def order(player):
    year = player["birth_year"]
    return (year is None, year if year is not None else 0, player["name"])


page = {"pages": 1}
number, everyone = 1, []
while number <= page["pages"]:
    page = search_players(query="bob smith", page=number)
    everyone.extend(page["players"])
    number += 1

*others, last = sorted(everyone, key=order) if everyone else [None]
for p in others:
    print(p["name"], p["birth_year"] or "year unknown")
if last:
    print("and at the end", last["name"], last["birth_year"] or "year unknown")
print(f"{len(everyone)} of {page.get('total', 0)}")
