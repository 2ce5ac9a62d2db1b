"""Parts of source URIs, which are keys of tables: bounded, and nobody's meets another's."""

from __future__ import annotations

from urllib.parse import quote

from langchain_memengine.text.digests import bounded

MAX_PART_CHARS = 255
"""With two parts and a commit's id a URI fits into the shortest key, that of MySQL."""


def message_uri(thread_id: str, message_id: str, *, part_chars: int = MAX_PART_CHARS) -> str:
    """Return the URI of a message, whichever memory commit archives it.

    Args:
        thread_id: Conversation it belongs to.
        message_id: Its id there.
        part_chars: Characters of each of the two, at most: fewer for a key that takes less.
    """
    thread, message = (bounded(uri_part(one), part_chars) for one in (thread_id, message_id))
    return f"message:{thread}/{message}"


def is_of_message(source: str) -> bool:
    """Return whether a source is a message, or what a memory commit made of some."""
    return source.startswith("message:")


def learnt_from(source: str) -> set[str]:
    """Return what is named as the source of what was learnt from a text: itself.

    Facts name a message without the commit that archived it.
    """
    return {source, source.partition("#")[0]} if is_of_message(source) else {source}


def uri_part(text: str) -> str:
    """Return a text as a part of a URI, of at most 255 characters.

    One that is longer when it is quoted, as three Chinese letters are 27 characters, is cut and
    ends with ``~`` and a hash of all of it.
    """
    return bounded(quote(text, safe="", errors="surrogatepass"), MAX_PART_CHARS)
