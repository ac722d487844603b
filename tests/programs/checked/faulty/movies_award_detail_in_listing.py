# tools: movies
# kind: key of another tool after long grouping
# expect: missing-key line 23
from collections import defaultdict


def awards_between(first, last):
    collected = []
    for year in range(first, last + 1):
        collected.extend(list_ceremony_awards(ceremony_year=year))
    return collected


def group_by(rows, field):
    groups = defaultdict(list)
    for row in rows:
        groups[row[field]].append(row)
    return groups


by_category = group_by(awards_between(1990, 1994), "category")
ages = {
    category: [row["age_years"] for row in rows]
    for category, rows in by_category.items()
}
for category, values in sorted(ages.items()):
    print(f"{category}: {sum(values) / len(values):.1f}")
