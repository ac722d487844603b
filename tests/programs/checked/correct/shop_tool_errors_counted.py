# tools: shop
# expect: none
failures = {}
for n in range(5):
    try:
        get_order(order_id=n)
    except ToolError as e:
        failures[e.status] = failures.get(e.status, 0) + 1
        print(e, e.body, e.args)
    except (ValueError, KeyError) as e:
        print(type(e).__name__)
print(failures)
