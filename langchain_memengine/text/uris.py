"""Parts of source URIs, which are keys of tables: bounded, and nobody's meets another's."""

from __future__ import annotations

from urllib.parse import quote

from langchain_memengine.text.digests import bounded

MAX_PART_CHARS = 255
"""With two parts and a commit's id a URI fits into the shortest key, that of MySQL."""


def uri_part(text: str) -> str:
    """Return a text as a part of a URI, of at most 255 characters.

    One that is longer when it is quoted, as three Chinese letters are 27 characters, is cut and
    ends with ``~`` and a hash of all of it.
    """
    return bounded(quote(text, safe="", errors="surrogatepass"), MAX_PART_CHARS)
