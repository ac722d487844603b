# tools: flights
# kind: wrong literal type
# expect: wrong-argument-type line 5
number = "2"
page = list_departures(origin="EWR", date="2013-02-03", page=number)
print(page["pages"])
