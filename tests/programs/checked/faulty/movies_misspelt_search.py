# tools: movies
# kind: misspelt tool
# expect: unknown-tool line 7
titles = ["Heat", "Alien", "Casablanca", "The Third Man"]
years = {}
for title in titles:
    hits = search_film(title=title, limit=1)
    if hits:
        years[hits[0]["title"]] = hits[0]["year"]
oldest = min(years, key=years.get)
print(f"{oldest} ({years[oldest]})")
