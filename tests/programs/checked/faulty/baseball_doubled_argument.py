# tools: baseball
# kind: doubled argument
# expect: doubled-argument line 4
report = file_report(player_id="pl_a2b3c", role="hitter", grade=50, grade=55)
print(report["report_id"])
