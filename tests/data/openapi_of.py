"""Write the OpenAPI document of an installed service, made by the service itself: `openapi_of.py kinto FILE`.

In a process of its own, because these packages print, warn and change what is global.
"""

import json
import sys
from pathlib import Path


def httpbin():
    from httpbin import app

    return app.test_client().get("/spec.json").get_json()


def kinto():
    from wsgiref.util import setup_testing_defaults

    from kinto import main

    memory = {
        f"kinto.{name}_backend": f"kinto.core.{name}.memory"
        for name in ("storage", "cache", "permission")
    }
    settings = {  # as `kinto init` writes them
        "kinto.includes": "kinto.plugins.default_bucket kinto.plugins.admin kinto.plugins.accounts",
        "kinto.userid_hmac_secret": "x",
        "multiauth.policies": "account",
        "multiauth.policy.account.use": "kinto.plugins.accounts.authentication.AccountsAuthenticationPolicy",
    }
    app = main({}, **memory, **settings)
    request = {"PATH_INFO": "/v1/__api__"}
    setup_testing_defaults(request)
    return json.loads(b"".join(app(request, lambda *_: None)))


def glances():
    sys.argv = ["glances", "-w", "--disable-autodiscover"]
    from glances.main import GlancesMain
    from glances.outputs.glances_restful_api import GlancesRestfulApi

    core = GlancesMain()
    return GlancesRestfulApi(config=core.get_config(), args=core.get_args())._app.openapi()


if __name__ == "__main__":
    name, file = sys.argv[1:]
    Path(file).write_text(
        json.dumps({"httpbin": httpbin, "kinto": kinto, "glances": glances}[name]())
    )
