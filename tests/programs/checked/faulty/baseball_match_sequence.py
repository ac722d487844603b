# tools: baseball
# kind: match statements
# expect: missing-key line 6
match list_awards():
    case [first, *rest]:
        print(first["title"], len(rest))
    case []:
        print("none")
