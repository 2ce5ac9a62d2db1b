"""The invented memory of the demo: its days count back from the day it is shown."""

from datetime import date

from langchain_memengine.cli.demo_memory import demo_files, demo_questions, write_demo_files

TODAY = date(2024, 3, 1)  # the day after a leap day


def test_days_count_back_from_today_over_a_leap_day():
    files = demo_files(TODAY)
    assert "daily/2024-02-29.md" in files  # a day ago
    assert "daily/2023-12-29.md" in files  # 63 days ago: 29 of February, 31 of January, 3
    assert files["tasks/storm-button.md"].startswith("---\ndate: 2024-02-24\n---\n# A button")


def test_no_text_is_from_the_future_and_all_have_words():
    files = demo_files(TODAY)
    days = [name[len("daily/") : -len(".md")] for name in files if name.startswith("daily/")]
    assert len(days) == 9
    assert all(date.fromisoformat(day) < TODAY for day in days)
    assert all(text.strip() for text in files.values())


def test_every_question_is_answered_by_a_file_of_the_same_day():
    assert {one.expected for one in demo_questions(TODAY)} <= set(demo_files(TODAY))


def test_files_are_written_below_a_folder_that_is_made(tmp_path):
    root = tmp_path / "new" / "story"
    names = write_demo_files(root, TODAY)
    written = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert written == set(names) == set(demo_files(TODAY))
    assert (root / "notes/refunds-zh.md").read_bytes().decode("utf-8").count("退款规则") == 1
