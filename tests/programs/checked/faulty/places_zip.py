# tools: places
# kind: zip
# expect: missing-key line 7
one = list_season_storms(season=2004)
two = list_season_storms(season=2005)
for before, after in zip(one, two):
    print(before["name"], after["storm_name"])
