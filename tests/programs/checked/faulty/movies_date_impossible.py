# tools: movies
# kind: pattern
# expect: bad-literal line 4
print(len(list_screenings(date="2027-06-31")))
