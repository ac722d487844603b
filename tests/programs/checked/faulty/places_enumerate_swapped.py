# tools: places
# kind: enumerate
# expect: not-an-object line 5
for state, number in enumerate(list_us_states()):
    print(number, state["name"])
