# tools: shop
# expect: none
# why: a while loop climbs the nullable parent until None, and the tree is walked down by a recursive generator; both end for finite data
def path(category):
    parts = []
    node = category
    while node is not None:
        parts.append(node["name"])
        node = node["parent"]
    return " / ".join(reversed(parts))


def leaves(node):
    if not node["children"]:
        yield node["id"], node["name"]
    for child in node["children"]:
        yield from leaves(child)


product = get_product(sku="AB-1234")
print(product["title"], "in", path(product["category"]))
names = dict(leaves(get_category_tree(root_id=product["category"]["id"])))
print(len(names), "leaves,", "the longest name:", max(names.values(), key=len))
