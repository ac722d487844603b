# tools: places
# kind: tools that are not called
# expect: not-a-list line 4
for state in list_us_states:
    print(state["name"])
