# tools: shop
# expect: none
import threading

results, errors = {}, []
lock = threading.Lock()

def work(number):
    try:
        order = get_order(order_id=number)
        with lock:
            results[number] = order
            results["last"] = order
    except ToolError as error:
        errors.append({"number": number, "status": error.status})

threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(results["last"]["status"], [e["number"] for e in errors], {k: v["status"] for k, v in results.items()})
