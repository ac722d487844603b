# tools: movies
# expect: none
PER_ROW, ROWS = 10, 8
wanted = PER_ROW * ROWS
size = wanted
if size > 50:
    size = 50


def search(words, limit):
    if limit > 50:
        return []
    return search_films(title=words, limit=limit)


def pages(words, most=50):
    for amount in range(10, 100, 20):
        if amount > most:
            break
        yield search_films(title=words, limit=amount)


found = search_films(title="love", limit=min(wanted, 50)) + search_films(title="war", limit=size)
for amount in (10, 40, 80):
    found += search("sea", amount)
for amount in range(10, 90, 20):
    if amount > 50:
        continue
    found += search_films(title="sun", limit=amount)
for amount in (20, 80):
    arguments = {"limit": amount} if amount <= 50 else {}
    found += search_films(title="sky", **arguments)
for rows in pages("moon"):
    found += rows
amount = 25
while amount <= 50:
    found += search_films(title="rain", limit=amount)
    amount = amount * 2
sizes = [80, 50, 10]
sizes.remove(80)
for amount in sizes:
    found += search_films(title="snow", limit=amount)
best = {"few": 5, "many": 50, "all": 500}
found += search_films(title="ice", limit=best["few"])
print(len(found), wanted, min([80, 50, 10]))
