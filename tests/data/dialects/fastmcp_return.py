# answer: ['item 10', 'item 11']
# calls at once: 1
items = await list_items(page=1)
return [item["name"] for item in items[:2]]
