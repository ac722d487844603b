# tools: bfcl
# expect: wrong-operand line 13
# fault: zipcode is text, and the format code 05d works for integers only.
cities = ["Rivermist", "Stonebrook", "Oakendale"]
codes = []
for city in cities:
    zipcode = get_zipcode_based_on_city(city=city).get("zipcode")
    if zipcode is not None:
        codes.append((city, zipcode))

template = "{:<12} {:05d}"
for city, zipcode in codes:
    print(template.format(city, zipcode))
for (first, a), (second, b) in zip(codes, codes[1:]):
    km = estimate_distance(cityA=a, cityB=b).get("distance")
    if km is not None:
        print(f"{first} to {second}: {km:.1f} km")
