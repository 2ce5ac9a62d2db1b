"""Secrets go before anything is stored; other words stay."""

import pytest

from langchain_memengine.knowledge.secrets import without_secrets

LETTERS = "a1B2c3D4e5F6g7H8i9J0"


@pytest.mark.parametrize(
    "secret",
    [
        f"sk-proj-{LETTERS}",
        f"sk-ant-api03-{LETTERS}",
        f"ghp_{LETTERS}{LETTERS[:16]}",
        "AKIAIOSFODNN7EXAMPLE",
        f"AIza{LETTERS}{LETTERS[:15]}",
        f"xoxb-123456789012-{LETTERS}",
        f"sk_live_{LETTERS}{LETTERS[:4]}",
        "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawZ",
        f"SG.{LETTERS}a1.{LETTERS}{LETTERS}abc",
        f"eyJhbGciOiJI.eyJzdWIiOiI{LETTERS}.{LETTERS}",
        "eyJhbGciOiJI.eyJzdWIi",
        "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
    ],
)
def test_key_goes_wherever_it_stands(secret):
    kept = without_secrets(f"Use {secret} for the shop, please.")
    assert secret not in kept
    assert kept.startswith("Use [redacted]")
    assert kept.endswith("for the shop, please.")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("My password is hunter22.", "My password is [redacted]"),
        ("the PIN code of the door was 4711!", "the PIN code of the door was [redacted]"),
        ("password: hunter22 next", "password: [redacted] next"),
        ("Mein Passwort lautet hunter22", "Mein Passwort lautet [redacted]"),
        ("Mi contraseña es hunter22", "Mi contraseña es [redacted]"),
        ("我的密码是hunter22", "我的密码是[redacted]"),
        ("mysql://ann:pa55w0rd@db/shop is ours", "mysql://ann:[redacted]@db/shop is ours"),
    ],
)
def test_what_is_called_a_secret_goes(text, kept):
    assert without_secrets(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I live in Rome, at 5 Via Appia, since 2019.",
        "Commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it at 10.0.0.1.",
        "The secret of good tea is patience.",
        "Пользователь живёт в Москве, 用户喜欢黑咖啡",
    ],
)
def test_other_words_stay(text):
    assert without_secrets(text) == text


@pytest.mark.parametrize(
    "text",
    ["a://" * 20_000, "token=" * 20_000, "password " * 20_000, "eyJ" * 200_000, "eyJ_." * 100_000],
)
def test_no_text_takes_long(text):
    without_secrets(text)
