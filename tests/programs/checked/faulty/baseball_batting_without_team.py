# tools: baseball
# kind: required argument left out, tool called through a lambda
# expect: missing-argument line 5
page = search_players(query="Ken Griffey")
home_runs = lambda p: get_batting_line(player_id=p["player_id"])["home_runs"]
father, son = sorted(page["players"], key=lambda p: p["birth_year"] or 0)[:2]
difference = home_runs(son) - home_runs(father)
print("the son hit", difference, "more")
