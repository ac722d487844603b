# tools: shop
# expect: none
order = get_order(order_id=1)
print(f"{order['order_id']:05d} {order['lines'][0]['unit_price']:>8.2f} {order['status']:<10} {order['status']:^{10}} {len(order['lines']):d}")
width = 12
print(f"{order['status']:{width}}|{order['order_id']:{'>'}{width}}|{order['placed_at']!s:>30}|{order['lines']!r:.40}")
