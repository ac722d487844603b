# tools: places
# kind: tool called by position in a lambda
# expect: positional-argument line 6
codes = ["PT", "ES", "FR", "AD"]
ids = [search_countries(query=c, limit=1)[0]["country_id"] for c in codes]
countries = map(lambda cid: get_country(cid), ids)
ranking = sorted(countries, key=lambda c: c["population"] or 0, reverse=True)
print(" > ".join(c["name"] for c in ranking))
