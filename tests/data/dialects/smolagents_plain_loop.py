# answer: [0, 2, 4]
# calls at once: 1
even = []
for row in list_items(page=0)[:5]:
    item = get_item(id=row["id"])
    if item["id"] % 2 == 0:
        even.append(item["id"])
print(even)
