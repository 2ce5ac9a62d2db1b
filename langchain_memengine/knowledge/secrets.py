"""Take secrets out of people's words before a model reads them or anything is kept."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from langchain_memengine.text.redaction import REDACTED, redacted_text

_SAID = re.compile(
    r"(\b(?:password|passphrase|passcode|pin(?: code| number)?|api[ _-]?key|access token"
    r"|passwort|contrase[nñ]a|mot de passe|senha|пароль)\b"
    r"[^.\n:=]{0,30}?(?:\b(?:is|was|ist|lautet|es|est|é)\b|[:=—–])[ ]*[\"'`]?"
    r"|(?:密码|密碼|パスワード)(?:是|为|為|は)[ ]*)[^\s\"'`,;]{4,}+",
    re.IGNORECASE,
)
# Begins where its letters do: each is read once, however often a text says "eyJ".
_WEB_TOKEN = re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]++(?:\.[A-Za-z0-9_-]++){1,2}")
_LEFT_OUT = frozenset(
    {
        "JwtTokenDetector",  # reads all that follows from each "eyJ" on
        "NpmDetector",  # its pattern takes seconds for 80,000 characters made for it
        "BasicAuthDetector",  # redacted_text leaves the rest of such an address
        "IPPublicDetector",  # no secret
    }
)


def without_secrets(text: str) -> str:
    """Return text with what looks like a secret replaced by ``[redacted]``.

    The forms of keys that detect-secrets knows, those of ``text.redaction``, and what is said to
    be a password. A secret that looks like any other word, and is called nothing, stays.
    """
    # A secret has four characters at least, so that this length is never reached.
    text = redacted_text(text, max_chars=4 * len(text) + 1)
    text = _SAID.sub(rf"\1{REDACTED}", text)
    text = _WEB_TOKEN.sub(REDACTED, text)
    for pattern in _patterns():
        text = pattern.sub(REDACTED, text)
    return text


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of detect-secrets; importing it takes 0.2 s, so not before it is used."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.plugins.base import RegexBasedDetector

    plugins: dict[str, Any] = dict(get_mapping_from_secret_type_to_class())
    return tuple(
        pattern
        for plugin in plugins.values()
        if issubclass(plugin, RegexBasedDetector) and plugin.__name__ not in _LEFT_OUT
        for pattern in plugin.denylist
    )
