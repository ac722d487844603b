# tools: flights
# kind: unpacking
# expect: not-a-list line 4
for code, name in list_airlines():
    print(code, name)
