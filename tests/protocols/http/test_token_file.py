from protocols.http.token_file import TokenFile


def test_what_another_process_signed_in_to_is_kept(tmp_path):
    one, other = TokenFile(tmp_path / "tokens.json"), TokenFile(tmp_path / "tokens.json")
    other.save("a", {"access_token": "1"})
    one.save("b", {"access_token": "2"})
    assert (one.get("a"), other.get("b")) == ({"access_token": "1"}, {"access_token": "2"})
