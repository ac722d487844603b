# tools: shop
# expect: none
def walk(node, depth=0):
    yield depth, node["name"]
    for child in node["children"]:
        yield from walk(child, depth + 1)


tree = get_category_tree(root_id=1)
deepest = max(walk(tree), key=lambda item: item[0])
parent = tree["parent"]
while parent is not None and parent["parent"] is not None:
    parent = parent["parent"]
print("\n".join("  " * depth + name for depth, name in walk(tree)))
print("deepest:", deepest[1], "under", parent["name"] if parent else "nothing")
