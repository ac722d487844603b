# tools: baseball
# expect: wrong-argument-type line 15
# fault: minutes comes out of str.split and is a text such as "30"; book_interview takes an integer.
PLAN = """Derek Jeter|studio|45
Mariano Rivera|phone|30
Jorge Posada|video|20"""

booked, missing = [], []
for line in PLAN.splitlines():
    name, channel, minutes = line.split("|")
    people = search_players(query=name)["players"]
    if not people:
        missing.append(name)
        continue
    talk = book_interview(player_id=people[0]["player_id"], channel=channel, minutes=minutes)
    booked.append(f"{name} ({talk['channel']}, {talk['minutes']} min)")

print("Booked:", "; ".join(booked))
if missing:
    print("Not found:", *missing, sep="\n- ")
