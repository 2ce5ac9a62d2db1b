"""The page about experiences shows what runs."""

from tests.doc_pages import run


def test_the_block_of_the_page_runs_and_finds_both(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run("docs/experience.md")
    told = capsys.readouterr().out
    assert 'origin="experience tool_chain"' in told
    assert 'origin="experience error_recovery"' in told
    assert "answer length" not in told
