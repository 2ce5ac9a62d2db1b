"""Take secrets out of values before they are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

REDACTED = "[redacted]"

MAX_CHARS = 500
MAX_VALUES = 20
MAX_DEPTH = 5
_MAX_INT_BITS = 1024
_MAX_READ = 10_000

_SECRET_NAME = re.compile(
    r"passw(or)?d|passphrase|secret|token|credential|cookie|authori[sz]ation"
    r"|(api|access|private|signing|encryption)[-_ ]?key|^(pwd|auth|pin|otp)$",
    re.IGNORECASE,
)
_NO_SECRET_NAME = re.compile(r"tokens$|^(max|next_page|page|min)[-_]?token", re.IGNORECASE)

# Each is possessive or bounded: no text makes them backtrack.
_SECRET_TEXT = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-(?!----))*+"
    r"(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?"
    r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}+"  # OpenAI, Anthropic, Stripe
    r"|\b(?:gh[opsur]_|github_pat_|glpat-|hf_|xox[abeprs]-|npm_|pypi-|dop_v1_|gsk_|xai-)"
    r"[A-Za-z0-9_-]{10,}+"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}+"  # AWS, Google
    r"|\beyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+"  # JSON web tokens
)
_AFTER_LABEL = re.compile(
    r"(\bauthorization[\"']?[ ]?[:=][ ]?[\"']?(?:basic|bearer|token)[ ]+"
    r"|\bbearer[ ]+(?=\S(?-i:[a-z]*+[A-Z0-9+/=_]))"  # "bearer bonds" are no secret
    r"|(?:passw(?:or)?[dt]|passphrase|secret|token|api[-_ ]?key|accountkey"
    r"|access[-_]?key(?:[-_]?id)?|signature"
    r"|contrase[nñ]a|mot de passe|senha|пароль|密码|密碼|パスワード)"
    r"[\"']?[ ]?[=:：][ ]?[\"']?)"
    r"[^\s\"',;&]{4,}+",
    re.IGNORECASE,
)
_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,100}+:)[^\s/]{1,200}@", re.IGNORECASE)


def redacted_text(text: str, max_chars: int = MAX_CHARS) -> str:
    """Return text without what looks like a secret, cut to ``max_chars`` characters.

    Known forms of keys, what follows words like ``password=`` and ``Bearer``, and passwords in
    URLs are recognised. A secret that looks like any other word is not.
    """
    # What is far behind the cut is not read; a secret across it still is recognised.
    text = text[: 2 * max_chars + _MAX_READ]
    text = _SECRET_TEXT.sub(REDACTED, text)
    text = _AFTER_LABEL.sub(rf"\1{REDACTED}", text)
    text = _IN_URL.sub(rf"\1{REDACTED}@", text)
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def redacted(value: Any, *, max_chars: int = MAX_CHARS) -> Any:
    """Return a value as bounded JSON types without secrets.

    What stands under a name like ``password`` or ``api_key`` goes as a whole. Texts are cut to
    ``max_chars`` characters, lists and mappings to 20 entries, nesting to 5 levels; values that
    JSON does not know become text.
    """
    return _redacted(value, max_chars, 1)


def _redacted(value: Any, max_chars: int, depth: int) -> Any:
    match value:
        case str():
            result: Any = redacted_text(value, max_chars)
        case None | bool() | float():
            result = value
        case int() if value.bit_length() <= _MAX_INT_BITS:
            result = value
        case int():
            result = redacted_text(hex(value)[:_MAX_READ], max_chars)  # Python refuses the decimals
        case Mapping() | list() | tuple() if depth > MAX_DEPTH:
            result = "…"
        case Mapping():
            result = {
                redacted_text(str(name), 100): REDACTED
                if is_secret_name(str(name))
                else _redacted(inner, max_chars, depth + 1)
                for name, inner in islice(value.items(), MAX_VALUES)
            }
        case list() | tuple():
            result = [_redacted(inner, max_chars, depth + 1) for inner in value[:MAX_VALUES]]
        case _:
            result = redacted_text(repr(value)[:_MAX_READ], max_chars)
    return result


def is_secret_name(name: str) -> bool:
    """Return whether what has this name is a secret."""
    return bool(_SECRET_NAME.search(name)) and not _NO_SECRET_NAME.search(name)
