# tools: movies
# kind: datetime arithmetic
# expect: wrong-operand line 7
from datetime import date

box = get_box_office(box_office_id="bo_a2b3c")
age = date.today() - box["released_on"]
print(age.days)
