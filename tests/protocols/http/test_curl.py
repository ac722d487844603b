from protocols.http.credentials import Mask, RequestSecret
from protocols.http.curl import curl_command
from protocols.http.request import HttpRequest


def test_a_command_names_variables_in_place_of_secrets():
    url = "https://api.example.org/items?q=s3cret-word"
    request = HttpRequest(
        method="POST", url=url, headers={"X-Version": "7"}, body=b'{"a": "it\'s s3cret-word"}'
    )
    secrets = [
        RequestSecret(
            place="header",
            name="Authorization",
            value="Bearer s3cret-word",
            prefix="Bearer ",
            credential="crm",
        ),
        RequestSecret(place="query", name="key", value="s3cret-word", credential="my key"),
    ]
    assert curl_command(request, secrets, Mask(["s3cret-word"])) == (
        "curl -X POST 'https://api.example.org/items?q=***' -H 'X-Version: 7'"
        """ --data-raw '{"a": "it'"'"'s ***"}' -H 'Authorization: Bearer '"$CREDENTIAL_CRM\""""
        """ --url-query key="$CREDENTIAL_MY_KEY\""""
    )
