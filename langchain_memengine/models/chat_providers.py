"""From a word in the settings to a chat model: ``"openai:gpt-5-mini"``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.models.failures import without_key

if TYPE_CHECKING:
    from langchain_memengine.models.asking import ChatModel

CHOICES = "openai:MODEL, google_genai:MODEL, ollama:MODEL"
REQUEST_TIMEOUT_SECONDS = 120.0
"""A model that thinks first may take a minute for a long text."""


def checked_spec(spec: str | ChatModel | None) -> str | ChatModel | None:
    """Return a setting that can name a chat model, as it is. Nothing is imported.

    Args:
        spec: ``openai:MODEL``, ``google_genai:MODEL``, ``ollama:MODEL``, or an object with
            ``invoke`` and ``ainvoke``, such as any LangChain chat model.

    Raises:
        ConfigurationError: The provider is unknown, the model is missing, or the object is no
            chat model.
    """
    if spec is None:
        return None
    if isinstance(spec, str):
        provider, _, model = spec.partition(":")
        if provider not in _BUILDERS or not model.strip():
            fault = "names no model" if provider in _BUILDERS else "is unknown"
            raise ConfigurationError(f"The chat model {spec!r} {fault}. Choose one of: {CHOICES}.")
        return spec
    if isinstance(spec, type) or not (hasattr(spec, "invoke") and hasattr(spec, "ainvoke")):
        raise ConfigurationError(
            f"chat_model is a {type(spec).__name__} and has no invoke and ainvoke. Pass a "
            f"LangChain chat model, any other Runnable, or one of: {CHOICES}."
        )
    return spec


def make_chat_model(spec: str | ChatModel) -> ChatModel:
    """Return the chat model a setting names. No provider is called yet.

    Raises:
        ConfigurationError: See :func:`checked_spec`; or the provider has no API key.
    """
    checked_spec(spec)
    if not isinstance(spec, str):
        return spec
    provider, _, model = spec.partition(":")
    return _BUILDERS[provider](model.strip())


# The clients retry differently or not at all: all leave it to us.


def _openai(model: str) -> ChatModel:
    from langchain_openai import ChatOpenAI
    from openai import OpenAIError

    try:
        return ChatOpenAI(model=model, max_retries=0, timeout=REQUEST_TIMEOUT_SECONDS)
    except (OpenAIError, ValueError) as error:
        raise without_key(
            f"chat model 'openai:{model}'", "OPENAI_API_KEY", "a chat model"
        ) from error


def _google_genai(model: str) -> ChatModel:
    from langchain_google_genai import ChatGoogleGenerativeAI

    try:
        return ChatGoogleGenerativeAI(model=model, max_retries=1, timeout=REQUEST_TIMEOUT_SECONDS)
    except ValueError as error:
        raise without_key(
            f"chat model 'google_genai:{model}'", "GOOGLE_API_KEY", "a chat model"
        ) from error


def _ollama(model: str) -> ChatModel:
    from langchain_ollama import ChatOllama

    return ChatOllama(model=model, client_kwargs={"timeout": REQUEST_TIMEOUT_SECONDS})


_BUILDERS: Mapping[str, Callable[[str], ChatModel]] = {
    "openai": _openai,
    "google_genai": _google_genai,
    "ollama": _ollama,
}
