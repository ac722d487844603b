# tools: places
# kind: lambda in map and filter
# expect: missing-key line 4
names = map(lambda storm: storm["title"], list_season_storms(season=1992))
print(", ".join(names))
