# tools: shop
# kind: the name of an exception after its block
# expect: used-before-assignment line 12
failed = 0
for number in (1, 2, 3):
    try:
        print(get_order(order_id=number)["status"])
    except ToolError as problem:
        failed += 1

if failed:
    print(f"{failed} failed, the last with {problem}")
