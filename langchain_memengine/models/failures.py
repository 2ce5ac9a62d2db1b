"""What a provider's exception means: its status, whether to try again and when, what to advise.

Every client library raises classes of its own and some hide the cause behind another exception, so
the chain of causes is searched for what they share: status attributes and class names.
Nothing here reads an exception's message: it may quote a key or the texts that were sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit, urlunsplit

from langchain_memengine.errors import ConfigurationError, EmbeddingError

CLIENT_FAILURE, SERVER_FAILURE, END_OF_FAILURES = 400, 500, 600
TRANSIENT_STATUSES = frozenset({408, 409, 429})
REFUSED_WHATEVER_THE_TEXT = frozenset({401, 403, 404})
TRANSIENT_CLASSES = frozenset(
    {
        "ConnectionError",  # built in (and its subclasses), requests
        "TimeoutError",  # built in, asyncio
        "Timeout",  # requests
        "TimeoutException",  # httpx, httpx2
        "NetworkError",  # httpx, httpx2: refused, reset, unreachable
        "RemoteProtocolError",  # httpx, httpx2: the server hung up
        "APIConnectionError",  # openai, anthropic
        "ClientConnectionError",  # aiohttp
        "JSONDecodeError",  # an answer cut short, or a proxy's error page
    }
)
OLLAMA_ADDRESS = "http://127.0.0.1:11434"
KEY_VARIABLES: Mapping[str, str] = {
    "OpenAIEmbeddings": "OPENAI_API_KEY",
    "AzureOpenAIEmbeddings": "AZURE_OPENAI_API_KEY",
    "GoogleGenerativeAIEmbeddings": "GOOGLE_API_KEY",
    "OllamaEmbeddings": "OLLAMA_API_KEY",
}


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and everything that led to it, each once, nearest first."""
    waiting: list[BaseException] = [error]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        # The context counts also behind `raise … from None`: Ollama hides the HTTP error so.
        waiting += [e for e in (current.__cause__, current.__context__) if e is not None]


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status an exception or one of its causes carries, or ``None``."""
    for cause in causes(error):
        response = getattr(cause, "response", None)
        for owner, name in ((cause, "status_code"), (cause, "code"), (response, "status_code")):
            status = getattr(owner, name, None)
            if isinstance(status, int) and CLIENT_FAILURE <= status < END_OF_FAILURES:
                return int(status)
    return None


def is_transient(error: BaseException) -> bool:
    """Say whether the same call may succeed later.

    An ``EmbeddingError`` knows. Else a status decides where there is one: 408, 409, 429 and 5xx
    are transient. Without a status, time-outs, broken connections and answers that are not JSON
    are.
    """
    if isinstance(error, EmbeddingError):
        return error.retryable
    status = status_of(error)
    if status is not None:
        return status in TRANSIENT_STATUSES or status >= SERVER_FAILURE
    return any(_has_transient_class(cause) for cause in causes(error))


def is_connection_failure(error: BaseException) -> bool:
    """Say whether no answer came at all: no status, and a time-out or a broken connection."""
    return status_of(error) is None and any(
        _has_transient_class(cause) and not isinstance(cause, ValueError) for cause in causes(error)
    )


def may_blame_a_text(error: EmbeddingError) -> bool:
    """Say whether other texts might pass: not in an outage, not without access or a model.

    Status 500 counts, though retries were in vain: Ollama answers so to a text it chokes on.
    """
    status = status_of(error)
    if error.retryable:
        return status == SERVER_FAILURE
    return status not in REFUSED_WHATEVER_THE_TEXT


def retry_after_seconds(error: BaseException) -> float | None:
    """Return the wait a provider asks for in ``Retry-After``, at least 0, or ``None``.

    A date is measured against the ``Date`` of the same answer, so that no clock of ours counts;
    without one it is ignored.
    """
    for cause in causes(error):
        headers = getattr(getattr(cause, "response", None), "headers", None) or {}
        values = {str(name).lower(): str(value) for name, value in headers.items()}
        asked = values.get("retry-after")
        if asked is None:
            continue
        if asked.strip().isdecimal() and asked.isascii():
            return float(asked)
        until, now = _parsed_date(asked), _parsed_date(values.get("date", ""))
        if until is not None and now is not None:
            return max(0.0, (until - now).total_seconds())
    return None


def advice(error: BaseException, *, name: str, address: str | None) -> str:
    """Return the sentence that says what to do about a failed call.

    Args:
        error: What the client raised.
        name: The embedder's name, class and model.
        address: Where the provider is reached, without credentials; ``None`` if unknown.
    """
    class_name, _, model = name.partition("/")
    is_ollama = class_name == "OllamaEmbeddings"
    status = status_of(error)
    if status is not None:
        return _advice_for_status(status, class_name, model if is_ollama else None)
    if is_connection_failure(error):
        if is_ollama:
            return f"Is Ollama running at {address}?"
        return f"Check the network and the base URL{f' {address}' if address else ''}."
    return "The embedder itself failed; its own error is the cause of this one."


def address_of(embeddings: object) -> str | None:
    """Return where an embedder's provider is reached, without user name and password.

    ``None`` if it does not say, or says what is no address.
    """
    url = getattr(embeddings, "base_url", None) or getattr(embeddings, "openai_api_base", None)
    if not url and type(embeddings).__name__ == "OllamaEmbeddings":
        url = os.environ.get("OLLAMA_HOST") or OLLAMA_ADDRESS
    if not isinstance(url, str):
        return None
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")  # Ollama takes HOST:PORT, too
    except ValueError:
        return None
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=host, query="", fragment="")).removeprefix("//")


def _advice_for_status(status: int, class_name: str, ollama_model: str | None) -> str:
    match status:
        case 401 | 403:
            variable = KEY_VARIABLES.get(class_name)
            key = f"the API key in {variable}" if variable else "the API key or credentials"
            todo = f"Check {key}, and that it may use this model."
        case 404:
            pull = f"Run `ollama pull {ollama_model}`, or check" if ollama_model else "Check"
            todo = f"{pull} the model's name and the base URL."
        case 429:
            todo = "The rate limit or the quota is used up: try later, or in smaller batches."
        case _ if status in TRANSIENT_STATUSES or status >= SERVER_FAILURE:
            todo = "The provider is failing: try later."
        case _:
            todo = "Check the provider's limits for the length of a text and texts a request."
    return todo


def _has_transient_class(error: BaseException) -> bool:
    return any(cls.__name__ in TRANSIENT_CLASSES for cls in type(error).__mro__)


def _parsed_date(value: str) -> datetime | None:
    try:
        return parsedate_to_datetime(value).replace(tzinfo=UTC)  # HTTP has no other zone
    except (ValueError, OverflowError):
        return None


def without_key(named: str, variable: str, instead: str) -> ConfigurationError:
    """Return the error for a client that its package does not make without a key.

    Args:
        named: What was asked for, in words.
        variable: Environment variable that the package reads the key from.
        instead: What can be passed in its place.
    """
    return ConfigurationError(
        f"The {named} could not be set up. Set the environment variable {variable}, or pass "
        f"{instead} made with a key."
    )
