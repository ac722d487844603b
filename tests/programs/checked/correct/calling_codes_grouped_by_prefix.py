# tools: places
# expect: none
# why: calling_code is nullable and is handled with 'or' before partition; setdefault/append on lists and a sort of mixed-length digit texts by a tuple key
groups = {}
for continent in list_continents():
    if continent["name"] != "North America":
        continue
    number = pages = 1
    while number <= pages:
        sheet = list_continent_countries(continent_id=continent["continent_id"], page=number)
        pages, number = sheet["pages"], number + 1
        for ref in sheet["countries"]:
            code = get_country(country_id=ref["country_id"])["calling_code"] or ""
            prefix, dash, rest = code.partition("-")
            groups.setdefault(prefix or "none", []).append((rest if dash else "", ref["name"]))

for prefix in sorted(groups, key=lambda p: (len(p), p)):
    members = groups[prefix]
    members.sort()
    print(f"+{prefix}" if prefix.isdigit() else prefix, len(members), members[0][1], "...", members[-1][1])
