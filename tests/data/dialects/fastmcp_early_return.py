# answer: 'item 3'
# calls at once: 1
page = await list_items(page=0)
for row in page:
    item = await get_item(id=row["id"])
    if item["price"] > 4:
        return item["name"]
return None
