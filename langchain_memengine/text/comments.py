"""Text that stands beside comments in Markdown and can neither open nor close one."""

from __future__ import annotations


def escaped_comments(text: str) -> str:
    """Return a text that cannot open or close a comment.

    >>> escaped_comments("a --> b")
    'a --&gt; b'
    """
    return text.replace("<!--", "&lt;!--").replace("-->", "--&gt;")


def unescaped_comments(text: str) -> str:
    """Return the text that :func:`escaped_comments` was given."""
    return text.replace("&lt;!--", "<!--").replace("--&gt;", "-->")
