"""The page about experiences shows what runs."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "experience.md").read_text(encoding="utf-8")


def test_the_block_of_the_page_runs_and_finds_both(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    seen: dict[str, object] = {}
    exec(compile(block, "experience.md", "exec"), seen)  # noqa: S102  # the point of the test
    told = capsys.readouterr().out
    assert 'origin="experience tool_chain"' in told
    assert 'origin="experience error_recovery"' in told
    assert "answer length" not in told
