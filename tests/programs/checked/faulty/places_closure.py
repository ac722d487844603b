# tools: places
# kind: nested functions and closures
# expect: missing-key line 8
def report(storm_id):
    storm = get_storm(storm_id=storm_id)

    def heading():
        return storm["name"] + " " + storm["start_time"]

    return heading()


print(report("st_a2b3c"))
