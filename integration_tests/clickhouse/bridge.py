"""ClickHouse's HTTP endpoint on loopback, as far as its client needs it, over the package chdb.

    python bridge.py PORT FOLDER

That is ClickHouse itself as a library: parser, tables, merges and formats are real; only the server
around them is this program.
"""

import gzip
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlparse

from chdb.session import Session

# The rows follow the statement, in their own format, behind one line feed.
_INSERT = re.compile(
    rb"\s*(INSERT\s+INTO\s.*?)\s+FORMAT\s+(\w+) *\n?(.*)", re.IGNORECASE | re.DOTALL
)
_FORMAT = re.compile(r"\s+FORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)
_CODE = re.compile(r"Code: (\d+)")
_SUMMARY = json.dumps(dict.fromkeys(("read_rows", "read_bytes", "written_rows"), "0"))

Answer = tuple[bytes, str]


class Bridge:
    """One session of ClickHouse, for one statement at a time."""

    def __init__(self, folder: Path) -> None:
        self._session = Session(str(folder / "data"))
        self._sent = folder / "sent"
        self._lock = threading.Lock()

    def run(self, statement: bytes, settings: dict[str, str]) -> Answer:
        """Return what a statement answers, and in which format."""
        if insert := _INSERT.fullmatch(statement):
            into, form = insert[1].decode(), insert[2].decode()
            with self._lock:
                self._sent.write_bytes(insert[3])
                rows = f"file('{self._sent}', '{form}')"
                self._session.query(f"{into} SELECT * FROM {rows}")  # noqa: S608  # a test's own
            return b"", form
        sql, form = statement.decode(), settings.get("default_format", "TabSeparated")
        if named := _FORMAT.search(sql):
            form, sql = named[1], sql[: named.start()]
        with self._lock:
            if size := settings.get("max_query_size"):
                self._session.query(f"SET max_query_size = {int(size)}")
            answer = self._session.query(sql, form)
        return bytes(answer.bytes() or b""), form


class Handler(BaseHTTPRequestHandler):
    """One request of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    bridge: Bridge

    def do_GET(self) -> None:  # the name that the class gives it
        """Answer a question whether the server is there, or a query in the address."""
        if urlparse(self.path).path == "/ping":
            self._answer(200, b"Ok.\n")
        else:
            self._run(b"")

    def do_POST(self) -> None:
        """Answer a statement in the address or in the body."""
        body = self._body()
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self._run(body)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        pieces = []
        while size := int(self.rfile.readline().strip(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _run(self, body: bytes) -> None:
        settings = dict(parse_qsl(urlparse(self.path).query, keep_blank_values=True))
        query = settings.get("query", "").encode()
        try:
            answer, form = self.bridge.run(b"\n".join(filter(None, (query, body))), settings)
        except Exception as error:  # noqa: BLE001  # whatever it is, the client is told
            code = _CODE.search(str(error))
            headers = {"X-ClickHouse-Exception-Code": code[1] if code else "0"}
            self._answer(500, str(error).encode(), headers)
        else:
            self._answer(200, answer, {"X-ClickHouse-Format": form})

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        told = {"X-ClickHouse-Timezone": "UTC", "X-ClickHouse-Summary": _SUMMARY, **(headers or {})}
        for name, value in {"Content-Length": str(len(body)), **told}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    Handler.bridge = Bridge(Path(sys.argv[2]))
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
