# tools: shop
# expect: none
# why: recursion over children ends by max(default=0) and by an empty loop; the nullable parent is followed by a walrus until it is None
def leaves(node, path=()):
    here = (*path, node["name"])
    if not node["children"]:
        yield " / ".join(here)
    for child in node["children"]:
        yield from leaves(child, here)


def height(node):
    return 1 + max(map(height, node["children"]), default=0)


node = root = get_category_tree(root_id=3)
above = []
while (node := node["parent"]) is not None:
    above.append(node["name"])
print(" > ".join(reversed(above)) or "top level")
print(*leaves(root), f"height {height(root)}", sep="\n")
