# tools: flights
# kind: star and double-star unpacking
# expect: missing-key line 4
print(*[airline["title"] for airline in list_airlines()], sep="\n")
