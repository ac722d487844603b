# answer: [1, 2, 3]
# calls at once: 1
# monty lacks: await of a plain value
first = get_item(id=1)
second = await get_item(id=2)
third = get_item(id=3)
ids = [first["id"], (await second)["id"], third["id"]]
ids
