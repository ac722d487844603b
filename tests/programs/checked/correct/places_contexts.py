# tools: places
# expect: none
import contextlib
import io


@contextlib.contextmanager
def plan(city_id):
    made = create_trip_plan(start_city_id=city_id, start_date="2026-07-01", travellers=2)
    try:
        yield made
    finally:
        print("planned", made["plan_id"])


with plan("ci_a2b3c") as trip, contextlib.redirect_stdout(io.StringIO()) as out:
    for stop in ("ci_d4e5f",):
        trip = add_trip_stop(plan_id=trip["plan_id"], city_id=stop, nights=1)
    print(trip["stops"][-1]["nights"])
with contextlib.suppress(ToolError):
    print(get_city(city_id=trip["start_city_id"])["name"], len(out.getvalue()))
