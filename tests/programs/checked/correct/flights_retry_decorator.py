# tools: flights
# expect: none
import functools
import time


def retry(times):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(times):
                try:
                    return function(*args, **kwargs)
                except ToolError as error:
                    if error.status not in (429, 500) or attempt == times - 1:
                        raise
                    time.sleep(2**attempt)

        return wrapper

    return decorate


@retry(3)
def board(origin, day):
    return list_departures(origin=origin, date=day)["flights"]


@functools.lru_cache(maxsize=None)
def airline(code):
    return get_airline(airline=code)["name"]


print({airline(flight["airline"]) for flight in board("JFK", "2013-01-01")})
