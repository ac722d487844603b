# answer: ['item 1', 'HTTP 404: no item -2', 'item 3']
# calls at once: 3
# monty lacks: concurrent.futures
from concurrent.futures import ThreadPoolExecutor
from functools import partial


def name_or_error(number, *, prefix=""):
    try:
        item = get_item(id=number)
    except ToolError as error:
        return str(error)
    return prefix + item["name"]


with ThreadPoolExecutor(max_workers=3) as pool:
    texts = [f.result() for f in [pool.submit(partial(name_or_error, prefix=""), n) for n in (1, -2, 3)]]
texts
