# tools: movies
# kind: helper without return is iterated
# expect: none-value line 16
def all_short_films(year, longest):
    found, page = [], 1
    while True:
        batch = find_films_by_runtime(year=year, max_minutes=longest, page=page, page_size=200)
        found.extend(batch["films"])
        if page >= batch["pages"]:
            break
        page += 1


counts = {}
for year in (1905, 1906):
    minutes = [f["runtime_minutes"] for f in all_short_films(year, 5)]
    counts[year] = (len(minutes), sum(minutes) / len(minutes) if minutes else 0.0)

for year, (number, mean) in counts.items():
    print(f"{year}: {number} films of {mean:.1f} minutes on average")
