# tools: flights
# expect: none
def attempt(key):
    try:
        return (None, key())
    except Exception as error:
        return (error, None)


def both(start, stop, length):
    if (start is None) != (stop is None):
        return False
    if start is None:
        return length is None or length >= 0
    return 0 <= start < stop


items = [attempt(lambda: 1 / 1), attempt(lambda: 1 / 0)]
for error, value in items:
    if error is not None:
        print(repr(error))
print(both(None, None, 3), both(1, None, 3), both(1, 2, 3))
