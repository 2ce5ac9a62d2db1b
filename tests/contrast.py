"""How far two colours are apart for an eye, as the Web Content Accessibility Guidelines count."""

WHITE, NIGHT = "#ffffff", "#1e2029"  # the grounds of a light page, and of the lighter dark one
READ = 4.5
"""Contrast that words need (WCAG 2.2, 1.4.3)."""
SEEN = 3.0
"""Contrast that lines and bars need (1.4.11)."""


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours like ``#1f9eb5``, 1 to 21."""
    darker, lighter = sorted(map(_luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
