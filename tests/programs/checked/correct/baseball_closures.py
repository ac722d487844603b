# tools: baseball
# expect: none
def memo(read):
    known = {}

    def inner(key):
        if key not in known:
            known[key] = read(key)
        return known[key]

    return inner


park = memo(lambda park_id: get_park(park_id=park_id))
for season in list_franchise_seasons(franchise_id="fr_a2b3c", from_season=1950)["seasons"]:
    for home in list_team_parks(team_id=season["team_id"]):
        print(season["season"], park(home["park_id"])["name"], park(home["park_id"])["city"])
