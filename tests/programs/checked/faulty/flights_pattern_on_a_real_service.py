# tools: flights
# expect: bad-literal line 4
# says: pattern
print(get_airport(airport="Boston")["name"])
