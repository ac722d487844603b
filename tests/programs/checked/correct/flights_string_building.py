# tools: flights
# expect: none
lines = ["%-4s %-40s" % (a["code"], a["name"]) for a in list_airlines()]
header = "{:<4} {:<40}".format("code", "name")
print(header, "-" * len(header), *lines, sep="\n")
print("\n".join(line.strip().ljust(50, ".") for line in lines[::2]))
