"""The demo: its own story, and a folder of the user's."""

import json
from datetime import UTC, date, datetime

import pytest
from rich.console import Console

from langchain_memengine.cli.demo import show_story
from langchain_memengine.cli.demo_memory import demo_files, demo_questions

NOW = datetime(2026, 5, 19, 12, 0, tzinfo=UTC)


@pytest.fixture
def with_model(memengine, monkeypatch):
    monkeypatch.setenv("MEMENGINE_EMBEDDINGS", "local")
    return memengine


def listing(folder):
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}


def test_the_story_has_the_files_its_questions_expect():
    today = date(2026, 5, 19)
    files = demo_files(today)

    assert 15 <= len(files) <= 22
    assert "daily/2026-05-18.md" in files
    assert {question.expected for question in demo_questions(today)} <= set(files)


@pytest.mark.parametrize("now", [NOW, datetime(2024, 2, 29, 0, 0, tzinfo=UTC)])
def test_every_expected_file_is_on_top(with_model, tmp_path, capsys, now):
    folder = tmp_path / "story"

    short = show_story(Console(quiet=True), folder, [], None, now, as_json=True)

    answers = json.loads(capsys.readouterr().out)["questions"]
    assert {answer["question"]: answer["hits"][0]["path"] for answer in answers} == {
        question.text: question.expected for question in demo_questions(now.date())
    }
    assert all(answer["passed"] for answer in answers)
    assert not short


def test_the_paraphrase_shares_no_word_and_the_newer_entry_wins_by_age(
    with_model, tmp_path, capsys
):
    show_story(Console(quiet=True), tmp_path / "story", [], None, NOW, as_json=True)
    answers = json.loads(capsys.readouterr().out)["questions"]
    paraphrase, recency = answers[1]["hits"], answers[2]["hits"]

    assert paraphrase[0]["receipt"]["bm25"] is None
    newer, older = (hit["receipt"] for hit in recency)
    assert newer["age_days"] < older["age_days"]
    assert newer["fused"] < older["fused"]


def test_the_demo_is_green_and_shows_its_steps(with_model):
    result = with_model("demo")

    assert (result.exit_code, result.stderr) == (0, "")
    assert "6 of 6 questions found the expected file." in result.stdout
    assert "✗" not in result.stdout
    assert '<memory origin="pinned" at="MEMORY.md">' in result.stdout
    assert "memengine init DIR" in result.stdout


def test_without_an_embedder_the_demo_says_what_it_cannot_show(memengine):
    result = memengine("demo", "--embeddings", "none")

    assert result.exit_code == 0
    assert "the same meaning in other words: needs an embedder" in result.stdout
    assert "4 of 4 questions" in result.stdout


def test_keep_leaves_a_memory_that_can_be_searched(memengine, tmp_path):
    assert memengine("demo", "--keep", "story").exit_code == 0

    found = memengine.json("search", "PAY-4012", "--root", "story")
    assert found["hits"][0]["path"].startswith("daily/")
    again = memengine("demo", "--keep", "story")
    assert again.exit_code == 2
    assert "is not an empty folder" in again.stderr


@pytest.mark.parametrize("setting", ["MEMENGINE_DATABASE_URL", "MEMENGINE_GRAPH_URL"])
def test_the_demo_never_uses_a_database_of_the_settings(memengine, tmp_path, monkeypatch, setting):
    monkeypatch.setenv(setting, f"sqlite:///{tmp_path / 'real.sqlite'}")

    assert memengine("demo").exit_code == 0
    assert not (tmp_path / "real.sqlite").exists()


def test_the_demo_has_no_chat_model_of_the_settings(memengine, monkeypatch):
    monkeypatch.setenv("MEMENGINE_CHAT_MODEL", "one that every other command refuses")

    assert memengine("stats", "--root", ".").exit_code == 2
    assert memengine("demo").exit_code == 0


def test_a_folder_of_the_users_is_only_read(memengine, root):
    before = listing(root)

    result = memengine("demo", root)

    assert result.exit_code == 0
    assert listing(root) == before
    assert "Deploys" in result.stdout


def test_own_questions_are_asked(memengine, root):
    answers = memengine.json("demo", root, "--ask", "which floor?")["questions"]

    assert [answer["question"] for answer in answers] == ["which floor?"]
    assert answers[0]["hits"][0]["path"] == "coffee.md"
    assert answers[0]["passed"] is None


def test_a_folder_of_the_users_is_not_kept_elsewhere(memengine, root):
    result = memengine("demo", root, "--keep", "story")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "a folder of yours stays where it is" in result.stderr


def test_a_folder_without_texts_cannot_be_shown(memengine, tmp_path):
    (tmp_path / "empty").mkdir()

    result = memengine("demo", "empty")

    assert result.exit_code == 2
    assert "has no Markdown or text" in result.stderr
