# tools: shop
# kind: list of children treated as dict
# expect: no-attribute line 6
def walk(node, depth=0):
    yield depth, node["id"], node["name"]
    for _, child in node["children"].items():
        yield from walk(child, depth + 1)


tree = get_category_tree(root_id=1)
deepest, number = 0, 0
for depth, category_id, name in walk(tree):
    number += 1
    deepest = max(deepest, depth)
    print(f"{'  ' * depth}{name} (#{category_id})")
print(f"{number} categories, {deepest + 1} levels")
