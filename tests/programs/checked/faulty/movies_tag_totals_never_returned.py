# tools: movies
# expect: none-value line 15
# expect: none-value line 15
# fault: total_with_tag has no return, so it gives None and western - noir subtracts None
def total_with_tag(tag_id, years):
    total = 0
    for year in years:
        total += list_entries_with_tag(tag_id=tag_id, year=year, page_size=1)["total"]


tags = {t["name"]: t["tag_id"] for t in list_tags()}
wanted = [tags[name] for name in ("Film-Noir", "Western") if name in tags]
if len(wanted) == 2:
    noir, western = (total_with_tag(tag, range(1970, 1980)) for tag in wanted)
    lead = western - noir
    print(f"Westerns lead by {lead}" if lead > 0 else "Westerns do not lead")
else:
    print("The board lacks one of the tags")
