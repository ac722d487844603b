# answer: 'item 12 costs 18.0'
# calls at once: 1
item = get_item(id=12)
answer = f"{item['name']} costs {item['price']}"
answer
