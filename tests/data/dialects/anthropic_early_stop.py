# answer: item 2
# calls at once: 1
regions = [0, 1, 2, 3]
for region in regions:
    item = await get_item(id=region)
    if item["price"] >= 3:
        print(item["name"])
        break
