# tools: places
# kind: objects added up
# expect: wrong-operand line 7
storm = search_storms(query="Sandy", season=2012)[0]
page = list_storm_track(storm_id=storm["storm_id"])
observations = page["observations"]
average = sum(observations) / len(observations)
print(f"{storm['name']}: {average:.1f} kt")
