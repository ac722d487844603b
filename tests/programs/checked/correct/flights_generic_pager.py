# tools: flights
# expect: none
# why: tools are handed to a generator as values and called there with page arguments added to **arguments; two tools with different list keys
def every(tool, key, **arguments):
    page = 1
    while True:
        answer = tool(page=page, page_size=200, **arguments)
        yield from answer[key]
        if page >= answer["pages"]:
            return
        page += 1


by_model = {}
for plane in every(search_planes, "planes", manufacturer="BOEING", min_seats=300):
    by_model.setdefault(plane["model"], set()).add(plane["tail_number"])
gone = every(list_cancelled_flights, "flights", date="2013-02-08")
airlines = sorted({f["airline"] for f in gone})
for model in sorted(by_model, key=lambda m: (-len(by_model[m]), m)):
    print(f"{model:<12}{len(by_model[model]):>4}")
print("Cancelled on 8 February:", *airlines)
