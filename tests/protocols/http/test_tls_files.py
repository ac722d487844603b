"""Certificates of the user's own: they are used for their hosts, and for no other."""

import datetime
import ipaddress
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from protocols.client import Credential, Invoker, InvokeSettings
from protocols.errors import SourceUnavailable, ToolError
from protocols.sources import load_tools

x509 = pytest.importorskip("cryptography.x509")
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "t"},
    "security": [{"client": []}],
    "components": {"securitySchemes": {"client": {"type": "mutualTLS"}}},
    "paths": {"/me": {"get": {"operationId": "get_me"}}},
}


def certify(folder, name, issuer=None):
    """Write NAME.pem and NAME.key, and return the certificate and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    by, by_key = (subject, key) if issuer is None else (issuer[0].subject, issuer[1])
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(address, critical=False)
        .sign(by_key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(
        encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / f"{name}.pem").write_bytes(certificate.public_bytes(encoding))
    (folder / f"{name}.key").write_bytes(private)
    return certificate, key


@pytest.fixture
def server(tmp_path):
    """An https service that wants a client certificate of its authority."""
    authority = certify(tmp_path, "ca")
    certify(tmp_path, "server", authority)
    certify(tmp_path, "client", authority)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = DOCUMENT if self.path == "/openapi.json" else {"headers": dict(self.headers)}
            text = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
    context.load_verify_locations(tmp_path / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.socket = context.wrap_socket(httpd.socket, server_side=True)
    httpd.handle_error = lambda *_: None
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def load(host, folder, **given):
    files = {"ca": "ca.pem", "certificate": "client.pem", "key": "client.key", **given}
    hosts = (files.pop("hosts", host),)
    paths = {name: str(folder / file) for name, file in files.items() if file}
    credential = Credential(hosts=hosts, **paths)
    invoker = Invoker(InvokeSettings(credentials={"client": credential}))
    return load_tools(f"https://{host}/openapi.json", invoker=invoker)["get_me"]


def test_own_certificates_serve_documents_and_calls(server, tmp_path):
    sent = load(server, tmp_path).call({})["headers"]
    assert "Authorization" not in sent


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"ca": ""}, "certificate verify failed"),
        ({"certificate": "", "key": ""}, "cannot be fetched"),
        ({"hosts": "api.example.org"}, "certificate verify failed"),
        ({"ca": "none.pem"}, "certificate file .*none.pem cannot be read: No such file"),
        ({"key": "server.key"}, "cannot be fetched"),
    ],
)
def test_without_them_nothing_is_reached(server, tmp_path, given, problem):
    with pytest.raises((SourceUnavailable, ToolError), match=problem) as caught:
        load(server, tmp_path, **given)
    assert "\n" not in str(caught.value)
