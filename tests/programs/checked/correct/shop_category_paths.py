# tools: shop
# expect: none
def paths(node, prefix=()):
    here = (*prefix, node["name"])
    yield node["id"], here
    for child in node["children"]:
        yield from paths(child, here)


def root_of(node):
    while (parent := node["parent"]) is not None:
        node = parent
    return node


tree = get_category_tree(root_id=1)
index = dict(paths(root_of(tree)))
depth = max(map(len, index.values()))
leaves = [cid for cid, path in index.items() if not any(p[: len(path)] == path and p != path for p in index.values())]
widest, *_ = sorted(index.items(), key=lambda kv: (-len(" / ".join(kv[1])), kv[0]))
print(f"{len(index)} categories, {depth} levels, {len(leaves)} leaves")
print(widest[0], " / ".join(widest[1]))
