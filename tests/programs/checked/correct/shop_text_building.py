# tools: shop
# expect: none
lines = []
for i, w in enumerate(list_warehouses(), 1):
    lines.append("%d. %s (%s)" % (i, w["city"], w["code"]))
    lines.append("{:>10} {}".format(w["capacity"], w["city"][:3].upper()))
    lines.append(f"{w['city']!r:>20} {w['capacity']:,} {'big' if w['capacity'] > 100 else 'small'}")
print("\n".join(lines), "-" * 20, sep="\n")
