"""Secrets stay out of what is kept; everything else stays in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.redaction import (
    MAX_CHARS,
    MAX_DEPTH,
    MAX_VALUES,
    REDACTED,
    redacted,
    redacted_text,
)

LETTERS = "a1B2c3D4e5F6g7H8i9J0"

SECRETS = [
    f"sk-proj-{LETTERS}",
    f"ghp_{LETTERS}",
    f"xoxb-{LETTERS}",
    "AKIAIOSFODNN7EXAMPLE",
    f"eyJhbGciOiJI.eyJzdWIiOiI{LETTERS}.{LETTERS}",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIB\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nDEK-Info: AES-128-CBC\n\nMIIEpAIB\n-----END PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQH\n=ab\n-----END PGP PRIVATE KEY BLOCK-----",
    f"npm_{LETTERS}",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_known_forms_of_keys_go_wherever_they_stand(secret):
    assert redacted_text(f"use {secret} here") == f"use {REDACTED} here"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("password=hunter22 next", f"password={REDACTED} next"),
        ("Authorization: Bearer abcdef123", f"Authorization: Bearer {REDACTED}"),
        ('{"api_key": "abcdef"}', f'{{"api_key": "{REDACTED}"}}'),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: Basic {REDACTED}"),
        ("AccountKey=abcdef==;x", f"AccountKey={REDACTED};x"),
        ("Пароль: hunter22", f"Пароль: {REDACTED}"),
        ("密码：hunter22", f"密码：{REDACTED}"),
        ("postgres://ann:pa55w0rd@db/x", f"postgres://ann:{REDACTED}@db/x"),
        ("postgres://ann:p@ss@w0rd@db/x", f"postgres://ann:{REDACTED}@db/x"),
    ],
)
def test_what_a_label_or_an_address_tells_to_be_secret_goes(text, kept):
    assert redacted_text(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        *("", "max_tokens=5000", "https://example.org:8080/a@b", "risk-free and task-based words"),
        *("basic English", "bearer bonds, and the bearer of news", "http://a:b and c@d"),
    ],
)
def test_other_text_stays(text):
    assert redacted_text(text) == text


@pytest.mark.parametrize(
    "name", ["password", "API_KEY", "x-api-key", "accessToken", "pwd", "Cookie", "client_secret"]
)
def test_what_stands_under_a_secret_name_goes_as_a_whole(name):
    assert redacted({"a": {name: {"deep": [1]}}}) == {"a": {name: REDACTED}}


@pytest.mark.parametrize("name", ["max_tokens", "tokens", "author", "keyword", "page_token"])
def test_what_stands_under_another_name_stays(name):
    assert redacted({name: "short"}) == {name: "short"}


def test_sizes_are_bounded():
    assert redacted("x" * (MAX_CHARS + 1)) == "x" * (MAX_CHARS - 1) + "…"
    assert redacted("x" * MAX_CHARS) == "x" * MAX_CHARS
    assert redacted(list(range(100))) == list(range(MAX_VALUES))
    assert len(redacted({str(n): n for n in range(100)})) == MAX_VALUES
    deep = value = []
    for _ in range(MAX_DEPTH):
        value.append([])
        value = value[0]
    assert str(redacted(deep)) == "[" * MAX_DEPTH + "'…'" + "]" * MAX_DEPTH


def test_a_secret_across_the_cut_goes():
    text = "x" * (MAX_CHARS - 20) + f" sk-proj-{LETTERS}"
    assert "sk-proj" not in redacted_text(text)


def test_a_number_that_python_does_not_spell_out_is_cut():
    assert redacted([16**5000]) == ["0x1" + "0" * (MAX_CHARS - 4) + "…"]


def test_values_that_json_does_not_know_become_text():
    assert redacted({"when": b"raw", "none": None, "n": 1.5, "big": 2**2000 % 7}) == {
        "when": "b'raw'",
        "none": None,
        "n": 1.5,
        "big": 2**2000 % 7,
    }


@given(
    st.lists(
        st.sampled_from(["password", "=", "hunter22", " ", "a://", "b", ":", "@", '"', SECRETS[0]])
    ).map("".join)
)
def test_redacting_again_changes_nothing(text):
    once = redacted_text(text)
    assert redacted_text(once) == once


@pytest.mark.parametrize("text", ["a://" * 20_000, "token=" * 20_000, "-----BEGIN " * 20_000])
def test_no_text_takes_long(text):
    assert len(redacted_text(text, 100_000)) <= 100_000
