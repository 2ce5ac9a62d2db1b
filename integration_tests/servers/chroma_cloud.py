"""What stands before a Chroma server as Chroma Cloud does: https, a key, and whose tenant it is."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from integration_tests.servers.chroma_run import ChromaRun

KEY = "ck-secret-of-a-test"
TENANT = "tenant-of-the-key"
DATABASE = "database-of-the-key"

_HOP = {"connection", "transfer-encoding", "content-length", "date", "server"}


class ChromaCloud(ThreadingHTTPServer):
    """Passes requests that bring the key on to a server.

    Attributes:
        keys: What each request brought as its key, in order.
    """

    daemon_threads = True

    def __init__(self, behind: ChromaRun, certificate: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = behind.port
        self.keys: list[str | None] = []
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.passed_on("POST", "/api/v2/tenants", {"name": TENANT})
        self.passed_on("POST", f"/api/v2/tenants/{TENANT}/databases", {"name": DATABASE})

    @property
    def url(self) -> str:
        """Its address."""
        return f"https://localhost:{self.server_port}"

    def passed_on(self, method: str, path: str, body: object) -> tuple[int, dict[str, str], bytes]:
        """Return what the server behind it answers."""
        given = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = HTTPConnection("127.0.0.1", self.behind, timeout=30)
        try:
            connection.request(method, path, given, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()


class _Handler(BaseHTTPRequestHandler):
    server: ChromaCloud

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        key = self.headers.get("x-chroma-token")
        self.server.keys.append(key)
        if not self.path.endswith("/heartbeat") and key != KEY:
            self._say(401, {}, b'{"error": "Unauthorized", "message": "no such key"}')
        elif self.path.endswith("/auth/identity"):
            whose = {"user_id": "ann", "tenant": TENANT, "databases": [DATABASE]}
            self._say(200, {}, json.dumps(whose).encode())
        else:
            self._say(*self.server.passed_on(self.command, self.path, body))

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815  # names that the class gives them

    def _say(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        kept = {name: value for name, value in headers.items() if name.lower() not in _HOP}
        for name, value in {"Content-Length": str(len(body)), **kept}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def cloud_before(server: ChromaRun, certificate: Path) -> Iterator[ChromaCloud]:
    """Run one until the end of the block; its certificate is made."""
    _make_certificate(certificate)
    with ChromaCloud(server, certificate) as cloud:
        threading.Thread(target=cloud.serve_forever, args=[0.02], daemon=True).start()
        yield cloud
        cloud.shutdown()


def _make_certificate(path: Path) -> None:
    """Write a key and a certificate of ``localhost`` that signs itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, form, plain)
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
