"""Parts of source URIs, which are keys of tables: bounded, and nobody's meets another's."""

from __future__ import annotations

from urllib.parse import quote

from langchain_memengine.text.digests import digest

MAX_PART_CHARS = 255
"""With two parts and a commit's id a URI fits into the shortest key, that of MySQL."""

_HASH_DIGITS = 32


def uri_part(text: str) -> str:
    """Return a text as a part of a URI, of at most 255 characters.

    One that is longer when it is quoted, as three Chinese letters are 27 characters, is cut and
    ends with ``~`` and a hash of all of it.
    """
    quoted = quote(text, safe="", errors="surrogatepass")
    if len(quoted) <= MAX_PART_CHARS:
        return quoted
    cut = quoted[: MAX_PART_CHARS - _HASH_DIGITS - 1]
    return f"{cut}~{digest(quoted)[:_HASH_DIGITS]}"
