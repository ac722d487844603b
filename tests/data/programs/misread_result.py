items = list_items(page=0)


def cheapest(rows):
    return min(rows, key=lambda row: row["cost"])


print("looking")
print(cheapest(items))
