# tools: places
# kind: functions given tools
# expect: missing-key line 14
def retry(tool, attempts=3, **arguments):
    for attempt in range(attempts):
        try:
            return tool(**arguments)
        except ToolError:
            if attempt == attempts - 1:
                raise


city = retry(get_city, city_id="ci_a2b3c")
print(city["name"], city["region"])
