# tools: shop
# expect: none
import io, contextlib
buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print(get_order(order_id=1)["status"])
print(buffer.getvalue().strip(), buffer.closed)

@contextlib.contextmanager
def opened(number):
    order = get_order(order_id=number)
    yield order

with opened(3) as order:
    print(order["status"], order["order_id"])
