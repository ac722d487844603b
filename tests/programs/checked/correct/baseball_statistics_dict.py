# tools: baseball
# expect: none
stats = get_team_statistics(team_id="tm_a2b3c")
del stats["team_id"]
known = {name: value for name, value in stats.items() if value is not None}
for name, value in sorted(known.items(), key=lambda kv: -kv[1])[:5]:
    print(name.replace("_", " ").capitalize(), value)
print("walks" in known, sum(known.values()))
