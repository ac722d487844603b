# tools: baseball
# kind: walrus
# expect: missing-key line 5
number = 1
while (page := list_roster(team_id="tm_a2b3c", page=number))["next_page"]:
    print(len(page["players"]))
    number += 1
