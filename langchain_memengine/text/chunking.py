"""Cut Markdown into searchable chunks: verbatim slices with a place, an id and a hash."""

from __future__ import annotations

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.cutting import Cutter
from langchain_memengine.text.digests import digest
from langchain_memengine.text.tokens import estimate_tokens
from langchain_memengine.types import Chunk

SIZE_TOKENS = 400  # GoClaw, decsr
OVERLAP_TOKENS = 80  # GoClaw, decsr


def chunk_markdown(
    content: str,
    size_tokens: int = SIZE_TOKENS,
    overlap_tokens: int = OVERLAP_TOKENS,
    *,
    source: str = "",
    split_on_headers: bool = True,
    skip_front_matter: bool = False,
) -> list[Chunk]:
    """Cut a Markdown text into chunks.

    Args:
        content: Any string.
        size_tokens: Estimated tokens of a chunk, never more.
        overlap_tokens: Estimated tokens repeated from the chunk before, at most.
        source: URI of the text, part of each id.
        split_on_headers: Whether a heading always begins a new chunk. A section with a body is
            never joined with another; a heading without one goes with its first sub-section.
        skip_front_matter: Whether the YAML block that a file begins with belongs to no chunk. In
            other texts, and where it is malformed, it is text like the rest.

    Returns:
        Chunks in the order of the text, none of them blank; together they hold every line that
        is not blank. ``[]`` for a blank text.

    Raises:
        ConfigurationError: ``size_tokens`` is below 1, or ``overlap_tokens`` is negative or not
            smaller.
    """
    if size_tokens < 1 or not 0 <= overlap_tokens < size_tokens:
        raise ConfigurationError(
            f"Chunks of {size_tokens} tokens cannot overlap by {overlap_tokens}. "
            "Set size_tokens to at least 1, and overlap_tokens from 0 to below it."
        )
    cutter = Cutter(content, size_tokens, overlap_tokens, skip_front_matter=skip_front_matter)
    chunks: list[Chunk] = []
    ids: set[str] = set()
    for start, end, heading in cutter.spans(split_on_headers=split_on_headers):
        text = content[start:end]
        first, last = cutter.line_at(start), cutter.line_at(end - 1)
        identity = f"{source}\0{first}\0{text}"
        while digest(identity) in ids:  # the same words twice in one line
            identity = f"{identity}\0{len(chunks)}"
        ids.add(digest(identity))
        chunks.append(
            Chunk(
                id=digest(identity),
                source=source,
                ord=len(chunks),
                start_line=first,
                end_line=last,
                tokens=estimate_tokens(text),
                text=text,
                hash=digest(text),
                heading=heading,
            )
        )
    return chunks


def is_genuine(chunk: Chunk) -> bool:
    """Return whether a chunk's id and hash are those of its words and place.

    A chunk that was cut here and came back has them; one that somebody made up could claim the
    embedding of another text, or the place of somebody else's chunk.
    """
    identity = f"{chunk.source}\0{chunk.start_line}\0{chunk.text}"
    ids = {digest(identity), digest(f"{identity}\0{chunk.ord}")}
    return chunk.id in ids and chunk.hash == digest(chunk.text)
