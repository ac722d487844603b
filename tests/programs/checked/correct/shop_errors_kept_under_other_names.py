# tools: shop
# expect: none
problems = {}
for number in (1, 2, 3):
    try:
        print(get_order(order_id=number)["status"])
    except ToolError as problem:
        problems[number] = problem
        print([str(problem) for _ in range(2)], problem)
print([f"{number}: {problem}" for number, problem in problems.items()])
error = None
try:
    print(get_order(order_id=9)["status"])
except ToolError as exc:
    error = exc
print(error)
e = "none"
try:
    print(get_order(order_id=9)["status"])
    print(e)
except (KeyError, ToolError) as problem:
    print(problem)
