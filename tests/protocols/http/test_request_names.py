"""Names in an HTTP request, and when a server could take one of them for another."""

from protocols.http.request_names import RequestName, by_reading, contradicts, normalize_name


def test_lenient_servers_read_names_alike():
    assert normalize_name("Dest.Ref") == normalize_name("dest_ref")
    assert normalize_name("dest_ref") != normalize_name("other")
    assert contradicts(RequestName("query", "a", "x", 1), RequestName("query", "a", "x", 2))
    assert len(by_reading([RequestName("query", "a", "x")])) > 0
