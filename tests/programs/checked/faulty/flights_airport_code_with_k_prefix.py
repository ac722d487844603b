# tools: flights
# expect: wrong-argument-type line 10
# fault: The prefix K makes codes of four characters, and get_airport takes codes of exactly three.
def icao(code: str) -> str:
    return f"K{code}"


highest = ("", float("-inf"))
for code in list_destinations(origin="JFK"):
    airport = get_airport(airport=icao(code))
    if (feet := airport["altitude_ft"]) > highest[1]:
        highest = (airport["name"], feet)
name, feet = highest
print(f"Highest destination: {name} at {feet:,} ft" if name else "No destinations")
