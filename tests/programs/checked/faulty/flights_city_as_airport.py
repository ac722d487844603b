# tools: flights
# kind: pattern
# expect: wrong-argument-type line 5
target = "Boston"
airport = get_airport(airport=target)
print(airport["name"])
