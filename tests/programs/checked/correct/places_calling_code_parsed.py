# tools: places
# expect: none
# why: calling_code is a nullable text such as '1-809' that is split, star-unpacked and turned into an int; null and odd texts are covered by `or` and by ValueError.
groups: dict[int, list[str]] = {}
bad = 0
for name in ("Dominican Republic", "Jamaica", "Antarctica", "Gibraltar"):
    for found in search_countries(query=name, limit=1):
        country = get_country(country_id=found["country_id"])
        lead, *rest = (country["calling_code"] or "none").split("-")
        try:
            code = int(lead)
        except ValueError:
            bad += 1
        else:
            groups.setdefault(code, []).append(country["iso2"] + ("*" if rest else ""))
        finally:
            del lead, rest

for code, members in sorted(groups.items()):
    print(f"+{code}: {' '.join(members)}")
print(bad, "without a usable code")
