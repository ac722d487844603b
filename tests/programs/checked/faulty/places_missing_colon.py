# tools: places
# kind: syntax
# expect: syntax line 5
storms = search_storms(query="Katrina")
for storm in storms
    print(storm["name"], storm["season"])
