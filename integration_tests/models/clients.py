"""The clients of three providers, all sent to the loopback server and told not to wait."""

from langchain_core.language_models.chat_models import BaseChatModel

from langchain_memengine.models import providers
from tests.fakes.provider_server import ProviderServer

SPECS = ("openai:small", "google_genai:gemini-embedding-001", "ollama:nomic-embed-text:v1.5")
KEY = "sk-secret"
TIMEOUT_SECONDS = 0.2


def send_to(server: ProviderServer, monkeypatch) -> None:
    """Let embedders that are made from now on ask this server, once for each call."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    monkeypatch.setattr(providers, "REQUEST_TIMEOUT_SECONDS", TIMEOUT_SECONDS)


def chat_model(spec: str, url: str) -> BaseChatModel:
    """Return the chat model of a provider; it does not retry."""
    provider, _, model = spec.partition(":")
    if provider == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model=model,
            base_url=f"{url}/v1",
            api_key=KEY,
            max_retries=0,
            timeout=TIMEOUT_SECONDS,
        )
    if provider == "google_genai":
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(
            model=model,
            base_url=url,
            google_api_key=KEY,
            max_retries=1,  # counts tries
            timeout=TIMEOUT_SECONDS,
        )
    from langchain_ollama import ChatOllama

    return ChatOllama(model=model, base_url=url, client_kwargs={"timeout": TIMEOUT_SECONDS})
