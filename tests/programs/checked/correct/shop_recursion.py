# tools: shop
# expect: none
def names(node, depth=0):
    result = ["  " * depth + node["name"]]
    for child in node["children"]:
        result.extend(names(child, depth + 1))
    return result

print("\n".join(names(get_category_tree(root_id=1))))
