"""A loopback stand-in for OpenAI, Gemini and Ollama: embeddings, chat, and faults on demand."""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.fakes.embeddings import FakeEmbeddings

Vectors = list[list[float]]
Reply = Callable[[str, dict[str, Any]], str]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request whose path contains ``match``."""

    match: str = ""
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None  # sent in place of the answer, as it is
    silent_seconds: float = 0.0  # nothing is sent, then the connection is dropped
    drop: bool = False
    change: Callable[[Vectors], Vectors] | None = None  # of the vectors answered


RATE_LIMITED = Fault(status=429, headers={"Retry-After": "3"})
SERVER_ERROR = Fault(status=500)
UNAUTHORIZED = Fault(status=401)
SILENT = Fault(silent_seconds=5.0)
DROPPED = Fault(drop=True)
MALFORMED = Fault(body=b'{"data": [')
SHORT_ANSWER = Fault(change=lambda vectors: vectors[:1])
NOT_A_NUMBER = Fault(change=lambda vectors: [[float("nan")] * len(v) for v in vectors])
EMPTY_ANSWER = Fault(change=lambda vectors: [])


@dataclass(frozen=True)
class Request:
    """A request as it came in; header names in lower case."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]


class ProviderServer:
    """Answers at ``url`` until closed; use it in a ``with`` statement.

    Args:
        size: Length of the vectors, made by ``FakeEmbeddings``.
        reply: Path and body of a chat request to the text of its answer.
    """

    def __init__(self, size: int = 64, reply: Reply = lambda path, body: "a reply") -> None:
        self.embeddings = FakeEmbeddings(size)
        self.reply = reply
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._faults: deque[Fault] = deque()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def fail(self, *faults: Fault) -> None:
        """Let the next matching requests fail, one a fault."""
        self._faults.extend(faults)

    def recover(self) -> None:
        """Let no request fail any more."""
        self._faults.clear()

    def admit(self, request: Request) -> Fault:
        """Log a request and return what goes wrong with it."""
        with self._lock:
            self.requests.append(request)
            fault = next((f for f in self._faults if f.match in request.path), None)
            if fault is None:
                return Fault()
            self._faults.remove(fault)
            return fault

    def answer(self, request: Request, fault: Fault) -> list[dict[str, Any]] | None:
        """Return the events of an answer (one, if it is not streamed); ``None``: no such path."""
        path, body = request.path, request.body
        events = None
        if path.endswith("/embeddings"):
            events = [_openai_embeddings(self._vectors(body["input"], fault), body)]
        elif path.endswith(":batchEmbedContents"):
            texts = [_gemini_text(r["content"]) for r in body["requests"]]
            events = [{"embeddings": [{"values": v} for v in self._vectors(texts, fault)]}]
        elif path == "/api/embed":
            vectors = self._vectors(body["input"], fault)
            events = [{"model": body["model"], "embeddings": vectors}]
        elif path.endswith("/chat/completions"):
            events = _openai_chat(self.reply(path, body), body)
        elif path.endswith((":generateContent", ":streamGenerateContent")):
            events = [_gemini_chat(self.reply(path, body))]
        elif path == "/api/chat":
            events = [_ollama_chat(self.reply(path, body), body)]
        return events

    def _vectors(self, texts: str | list[str], fault: Fault) -> Vectors:
        texts = [texts] if isinstance(texts, str) else texts
        vectors = self.embeddings.embed_documents(texts)
        return fault.change(vectors) if fault.change else vectors


def _openai_embeddings(vectors: Vectors, body: dict[str, Any]) -> dict[str, Any]:
    data = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": body["model"], "data": data, "usage": usage}


def _gemini_text(content: dict[str, Any]) -> str:
    return " ".join(part.get("text", "") for part in content["parts"])


def _gemini_chat(text: str) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]}
    counts = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "fake"}


def _ollama_chat(text: str, body: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    made = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "eval_count": 1}
    return {**made, "message": message, "done": True, "done_reason": "stop"}


def _openai_chat(text: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    base = {"id": "c1", "created": 1, "model": body["model"]}
    if not body.get("stream"):
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return [{**base, "object": "chat.completion", "choices": [choice], "usage": usage}]
    deltas: list[tuple[dict[str, str], str | None]] = [
        ({"role": "assistant", "content": text}, None),
        ({}, "stop"),
    ]
    return [
        {
            **base,
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        for delta, reason in deltas
    ]


def _encoded(request: Request, events: list[dict[str, Any]]) -> tuple[str, bytes]:
    """Return the content type and the bytes of an answer, streamed if its request asked so."""
    path, lines = request.path, [json.dumps(event).encode() for event in events]
    if path.endswith("/chat/completions") and request.body.get("stream"):
        lines.append(b"[DONE]")
    elif not path.endswith(":streamGenerateContent"):
        return "application/json", b"\n".join(lines)
    return "text/event-stream", b"".join(b"data: " + line + b"\n\n" for line in lines)


def _handler_of(server: ProviderServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        # HTTP/1.0 ends the connection with the answer: the clients have no close(), and would leave
        # open sockets to the garbage collector.
        protocol_version = "HTTP/1.0"

        def log_message(self, *args: object) -> None:
            pass  # the server keeps its own log of requests

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.path.partition("?")[0], json.loads(raw or b"{}"), headers)
            fault = server.admit(request)
            if fault.drop or fault.silent_seconds:
                server.closing.wait(fault.silent_seconds)
                self.close_connection = True
                return
            if fault.status is not None:
                error = {"message": "injected", "code": fault.status, "status": "INJECTED"}
                body = fault.body or json.dumps({"error": error}).encode()
                self._send(fault.status, "application/json", body, fault.headers)
                return
            events = server.answer(request, fault)
            if events is None:
                self._send(404, "application/json", b'{"error": {"message": "no such path"}}', {})
                return
            kind, body = _encoded(request, events)
            self._send(200, kind, body if fault.body is None else fault.body, fault.headers)

        def _send(self, status: int, kind: str, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            length = str(len(body))
            for name, value in {"Content-Type": kind, "Content-Length": length, **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Handler
