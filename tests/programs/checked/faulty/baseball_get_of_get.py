# tools: baseball
# kind: .get()
# expect: missing-key line 6
page = list_franchise_seasons(franchise_id="fr_a2b3c")
for season in page.get("seasons", []):
    print(season.get("season"), season.get("team"))
