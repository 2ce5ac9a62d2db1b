"""From a word in the settings to a chat model."""

import pytest

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.models.chat_providers import checked_spec, make_chat_model
from tests.fakes.chat_models import ScriptedChatModel

MODELS = {
    "openai:gpt-5-mini": "ChatOpenAI",
    "google_genai:gemini-2.5-flash": "ChatGoogleGenerativeAI",
    "ollama:llama3.1:8b": "ChatOllama",
}


@pytest.mark.parametrize(("spec", "name"), MODELS.items())
def test_providers_by_name(spec, name, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    model = make_chat_model(spec)
    assert type(model).__name__ == name
    assert (
        model.model_dump()
        .get("model_name", model.model_dump().get("model"))
        .endswith(spec.partition(":")[2])
    )


def test_model_is_taken_as_it_is_and_none_is_none():
    model = ScriptedChatModel(replies=["a"])
    assert make_chat_model(model) is model
    assert checked_spec(None) is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openai", "names no model"),
        ("openai: ", "names no model"),
        ("mistral:large", "is unknown"),
        (object(), "has no invoke"),
        (ScriptedChatModel, "has no invoke"),
    ],
)
def test_what_is_no_chat_model_is_refused(spec, message):
    with pytest.raises(ConfigurationError, match=message):
        make_chat_model(spec)
    with pytest.raises(ConfigurationError, match=message):
        checked_spec(spec)


@pytest.mark.parametrize("spec", [spec for spec in MODELS if not spec.startswith("ollama")])
def test_missing_key_names_its_variable(spec, monkeypatch):
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match="_API_KEY"):
        make_chat_model(spec)
