"""Turn the bytes of a file into text, or say why they are none."""

from __future__ import annotations

import codecs

_BYTE_ORDER_MARKS = (  # UTF-32 first: its little-endian mark starts with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(content: bytes) -> str:
    """Return the text of a file: UTF-8, or UTF-16 or UTF-32 with a byte order mark.

    The mark is dropped; line ends stay as they are.

    Raises:
        ValueError: The bytes are no text; its message is the reason, like ``binary`` (there is a
            NUL) or ``not UTF-8``.
    """
    marked = (encoding for mark, encoding in _BYTE_ORDER_MARKS if content.startswith(mark))
    encoding = next(marked, None)
    try:
        text = content.decode(encoding or "utf-8-sig")
    except UnicodeDecodeError as error:
        binary = encoding is None and b"\0" in content
        raise ValueError("binary" if binary else f"not {(encoding or 'utf-8').upper()}") from error
    if "\0" in text:
        raise ValueError("binary")
    return text
