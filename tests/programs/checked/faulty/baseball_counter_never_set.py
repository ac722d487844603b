# tools: baseball
# kind: name before assignment
# expect: used-before-assignment line 6
# expect: used-before-assignment line 7
for salary in list_player_salaries(player_id="pl_a2b3c"):
    total += salary["salary_usd"]
print(total)
