"""What of a message is its author's own words, and whether a quote is among them."""

from __future__ import annotations

import re
import unicodedata

from langchain_memengine.text.words import exact_words

_CODE_FENCE = re.compile(r"^ {0,3}(?:```+(?P<info>[^`\n]*)|~~~+[^\n]*)$", re.MULTILINE)
_QUOTED_LINE = re.compile(r"^[ \t]*>[^\n]*$", re.MULTILINE)
_TAG = re.compile(r"<\s*([a-zA-Z][\w-]{0,60})(?:\s[^<>]{0,300})?>")
_CLOSING_TAG = re.compile(r"<\s*/\s*([a-zA-Z][\w-]{0,60})\s*>")
_FENCE_TAG = re.compile(r"(?:memor(?:y|ies)|previous-context|transcript)\b", re.IGNORECASE)
_SOMEONE_ELSE = re.compile(
    r"^[ \t#*_]*(?:assistant|ai|agent|bot|chatgpt|system|developer|tool|function"
    r"|previous[ -]context|summary|memory|memories)\b[^\n:]{0,60}:[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*",
    re.IGNORECASE | re.MULTILINE,
)

# Numbers with sign and per cent, and names with a sign behind; names without one.
_EXACT = re.compile(r"(?:(?<![\w.,)])[-−+])?\d+(?:[.,:/]\d+)*%?|[^\W\d]\w{0,30}(?:\+\+|\+|#)(?!\w)")
# Mail addresses, hosts and paths: where a forged fact would send what it is after. All that stands
# before an @, :// or dot is bounded, so that no long word is read from each of its letters again.
_ADDRESS = re.compile(
    r"\w[\w.+-]{0,63}@[\w.-]+|\w{1,20}://[^\s<>\"']+|(?:[\w-]{1,63}+\.){1,8}[a-z]{2,}\b"
)
_PLAIN = re.compile(r"(?<!\w)[^\W\d]\w*+(?![+#])")

_MIN_QUOTE = 3  # letters and digits; less proves nothing
_SIGNS_BEFORE = "+-−±~<>=$€£¥#@/.,"
_SIGNS_AFTER = "+#%-/@"
_STEM = 4


def own_words(text: str) -> str:
    """Return a message without what its author shows as somebody else's.

    Fenced code, quoted lines, anything between tags, and turns labelled as another speaker's are
    left out: files, tool output, recalled memory and summaries are pasted so. A pasted text may
    close its fence or tag itself: all goes from the first of a kind to the last, with what the
    person says in between. What is pasted without a mark cannot be told from what is said.
    """
    text = _without_code(text)
    text = _without_tagged(text)
    text = _QUOTED_LINE.sub("", text)
    return _SOMEONE_ELSE.sub("", text).strip()


def is_quote(quote: str, text: str) -> bool:
    """Return whether a text says a quote, whatever the case and the white space.

    It must begin and end where words do, with their signs: ``I use C`` is no quote from
    ``I use C++``, nor ``5 degrees`` from ``-5 degrees``. Fewer than three letters or digits are
    none either.
    """
    wanted, said = _folded(quote), _folded(text)
    if sum(map(str.isalnum, wanted)) < _MIN_QUOTE:
        return False
    at = said.find(wanted)
    while at >= 0:
        if not (_cuts_start(said, at) or _cuts_end(said, at + len(wanted))):
            return True
        at = said.find(wanted, at + 1)
    return False


def rests_on(fact: str, quote: str) -> bool:
    """Return whether a fact can come from a quote, as far as words tell.

    Every number must be in both with its sign, and so must names like ``C++`` and addresses; one
    word at least must be in both, or its beginning.
    """
    told, said = _folded(fact), _folded(quote)
    for exact in (_EXACT, _ADDRESS):
        if not set(exact.findall(told)) <= set(exact.findall(said)):
            return False
    plain = set(_PLAIN.findall(said))
    cut_off = {name.rstrip("+#") for name in _EXACT.findall(said)} - plain
    if cut_off & set(_PLAIN.findall(told)):
        return False
    stems = {word[:_STEM] for word in exact_words(said)}
    return any(word[:_STEM] in stems for word in exact_words(told))


def shared_share(one: str, other: str, ignored: str = "") -> float:
    """Return the share of the shorter text's words that the other has too, 0 to 1.

    Args:
        one: A text.
        other: Another one.
        ignored: Words that do not count.
    """
    left_out = _distinct(ignored)
    first, second = (_distinct(text) - left_out for text in (one, other))
    return len(first & second) / min(len(first), len(second)) if first and second else 0.0


def text_key(text: str) -> str:
    """Return what two texts have in common that say the same: signs and symbols count."""
    return " ".join(unicodedata.normalize("NFC", text).split()).rstrip(".。 ")


def name_key(text: str) -> str:
    """Return what two spellings of a name have in common: case and joining signs do not count."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().replace("_", " ").split())


def _distinct(text: str) -> set[str]:
    """Return the words of a text; ``C++`` is one, and does not hold ``C``."""
    folded = _folded(text)
    exact = set(_EXACT.findall(folded))
    cut_off = {name.strip("+#%-−") for name in exact} - set(_PLAIN.findall(folded)) - exact
    return (set(exact_words(folded)) - cut_off) | exact


def _without_code(text: str) -> str:
    """Return text without its code blocks and what is between them; an open one has no end."""
    fences = list(_CODE_FENCE.finditer(text))
    if not fences:
        return text
    is_closed = len(fences) % 2 == 0 and not (fences[-1]["info"] or "").strip()
    return text[: fences[0].start()] + (text[fences[-1].end() :] if is_closed else "")


def _without_tagged(text: str) -> str:
    """Return text without tags that are closed and what is in them; a fence counts unclosed too."""
    last_closing = {tag[1].lower(): tag.end() for tag in _CLOSING_TAG.finditer(text)}
    parts, at = [], 0
    while found := _TAG.search(text, at):
        name = found[1].lower()
        parts.append(text[at : found.start()])
        end = last_closing.get(name, 0)
        if end > found.end():
            at = end
        elif _FENCE_TAG.match(name):
            return "".join(parts)
        else:
            parts.append(found[0])
            at = found.end()
    return "".join([*parts, text[at:]])


def _folded(text: str) -> str:
    straight = text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
    return " ".join(unicodedata.normalize("NFC", straight).casefold().split())


def _cuts_start(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    if not before:
        return False
    if text[at].isdigit() and before in _SIGNS_BEFORE:
        return True
    return _is_within_word(before, text[at])


def _cuts_end(text: str, end: int) -> bool:
    after = text[end : end + 1]
    if not after:
        return False
    if text[end - 1].isalnum() and after in _SIGNS_AFTER:
        return True
    if text[end - 1].isdigit() and after in ".," and text[end + 1 : end + 2].isdigit():
        return True
    return _is_within_word(text[end - 1], after)


def _is_within_word(left: str, right: str) -> bool:
    """Return whether a boundary between two characters is none between words.

    Scripts that are written without spaces have one anywhere.
    """
    return left.isalnum() and right.isalnum() and not (_unspaced(left) or _unspaced(right))


def _unspaced(character: str) -> bool:
    return bool(UNSPACED.match(character))


# Thai to Khmer, and Han, kana and Hangul.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
