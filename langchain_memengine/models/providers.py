"""From a word in the settings to an embedder: ``"openai:text-embedding-3-small"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.models.embedding import Embedder, EmbeddingsLike
from langchain_memengine.models.failures import without_key

CHOICES = "local, local:wordllama, local:minilm, openai:MODEL, google_genai:MODEL, ollama:MODEL"
REQUEST_TIMEOUT_SECONDS = 60.0


def make_embedder(
    spec: str | EmbeddingsLike | None, *, batch_size: int = 64, attempts: int = 4
) -> Embedder | None:
    """Return the embedder a setting names, or ``None`` for keyword search only.

    Nothing is loaded and no provider is called yet.

    Args:
        spec: ``None``, one of ``local``, ``local:wordllama``, ``local:minilm``,
            ``openai:MODEL``, ``google_genai:MODEL``, ``ollama:MODEL``, or an object with
            ``embed_documents`` and ``embed_query``, such as any LangChain ``Embeddings``.
        batch_size: Texts in one call, at most.
        attempts: Tries of a call that may succeed later.

    Raises:
        ConfigurationError: The provider is unknown, the model is missing, the object is no
            embedder, or the provider has no API key.
        MissingDependencyError: The extra for this embedder is not installed.
    """
    if spec is None:
        return None
    embeddings = _from_spec(spec) if isinstance(spec, str) else spec
    if isinstance(embeddings, type) or not isinstance(embeddings, EmbeddingsLike):
        raise ConfigurationError(
            f"embeddings is a {type(embeddings).__name__} and has no embed_documents and "
            f"embed_query. Pass an instance of LangChain's Embeddings, or one of: {CHOICES}."
        )
    name = embedder_name(embeddings)
    return Embedder(embeddings, name=name, batch_size=batch_size, attempts=attempts)


def embedder_name(embeddings: object) -> str:
    """Return the name vectors are kept under: class and model, as far as the object tells.

    An object can name itself with an attribute ``embedder_name``; else ``model``, ``model_name``
    and ``model_id`` are looked for, in this order.
    """
    own = getattr(embeddings, "embedder_name", None)
    if isinstance(own, str):
        return own
    class_name = type(embeddings).__name__
    for attribute in ("model", "model_name", "model_id"):
        model = getattr(embeddings, attribute, None)
        if isinstance(model, str) and model:
            return f"{class_name}/{model}"
    return class_name


def _from_spec(spec: str) -> EmbeddingsLike:
    provider, _, model = spec.partition(":")
    if provider == "local":
        return _local(model)
    build = _BUILDERS.get(provider)
    if build is None or not model.strip():
        fault = "names no model" if build else "is unknown"
        raise ConfigurationError(f"The embedder {spec!r} {fault}. Choose one of: {CHOICES}.")
    return build(model.strip())


def _local(model: str) -> EmbeddingsLike:
    from langchain_memengine.models.local import MiniLMEmbeddings, WordLlamaEmbeddings

    if model in {"", "wordllama"}:
        return WordLlamaEmbeddings()
    if model == "minilm":
        return MiniLMEmbeddings()
    raise ConfigurationError(f"The embedder 'local:{model}' is unknown. Choose one of: {CHOICES}.")


def _openai(model: str) -> EmbeddingsLike:
    from langchain_openai import OpenAIEmbeddings
    from openai import OpenAIError

    try:
        return OpenAIEmbeddings(
            model=model,
            # The check would download token tables; compatible servers do not want token ids.
            check_embedding_ctx_length=False,
            max_retries=0,  # Embedder retries, with one deadline for all providers
            request_timeout=REQUEST_TIMEOUT_SECONDS,
        )
    except (OpenAIError, ValueError) as error:
        raise without_key(
            f"embedder 'openai:{model}'", "OPENAI_API_KEY", "an Embeddings instance"
        ) from error


def _google_genai(model: str) -> EmbeddingsLike:
    from langchain_google_genai import GoogleGenerativeAIEmbeddings

    try:
        return GoogleGenerativeAIEmbeddings(
            model=model, client_args={"event_hooks": {"request": [_limit_time]}}
        )
    except ValueError as error:
        raise without_key(
            f"embedder 'google_genai:{model}'", "GOOGLE_API_KEY", "an Embeddings instance"
        ) from error


def _limit_time(request: Any) -> None:
    """Give a request of the Gemini client its time-out.

    The client sends every request with none, whatever ``request_options`` and ``client_args``
    say, so that a silent server would hold a search for ever.
    """
    phases = ("connect", "read", "write", "pool")
    request.extensions["timeout"] = dict.fromkeys(phases, REQUEST_TIMEOUT_SECONDS)


def _ollama(model: str) -> EmbeddingsLike:
    from langchain_ollama import OllamaEmbeddings

    return OllamaEmbeddings(model=model, client_kwargs={"timeout": REQUEST_TIMEOUT_SECONDS})


_BUILDERS: Mapping[str, Callable[[str], EmbeddingsLike]] = {
    "openai": _openai,
    "google_genai": _google_genai,
    "ollama": _ollama,
}
