# tools: shop
# expect: none
def deepest(node):
    return 1 + max((deepest(part) for part in node["children"]), default=0)


def longest(node):
    if not node["children"]:
        return len(node["name"])
    return max(longest(part) for part in node["children"])


def widest(node):
    return max([len(node["children"]), *(widest(part) for part in node["children"])])


def deep(node):
    return 1 + max(deep(part) for part in node["children"]) if node["children"] else 1


def highest(node):
    return max([highest(part) for part in node["children"]] or [0]) + 1


tree = get_category_tree(root_id=1)
print(deepest(tree), longest(tree), widest(tree), deep(tree), highest(tree))
