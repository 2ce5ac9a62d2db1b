"""eval, and the page that explains it."""

import json
import re
import shlex

import pytest

from tests.doc_pages import blocks, commands, read, run

PAGE = "docs/evaluation.md"

QUESTIONS = {
    "documents": [
        {"id": "a", "text": "The red fox sleeps."},
        {"id": "b", "text": "A blue whale sings."},
        {"id": "c", "text": "Green tea at noon."},
    ],
    "questions": [
        {"query": "blue whale", "relevant": ["b"], "category": "animals"},
        {"query": "tea", "relevant": ["c", "a"], "category": "dr\x1b[31minks"},
    ],
}


@pytest.fixture
def questions(memengine, tmp_path):
    path = tmp_path / "questions.json"
    path.write_text(json.dumps(QUESTIONS), encoding="utf-8")
    return path


def test_json_has_a_fixed_shape(memengine, questions):
    found = memengine.json("eval", questions, "--baselines", "--ranking", "rrf")

    assert list(found) == [
        *("dataset", "ranking", "embeddings", "n", "system", "baselines"),
        *("per_category", "paired", "degraded"),
    ]
    assert (found["dataset"], found["ranking"], found["n"]) == ("questions", "rrf", 2)
    assert found["system"]["recall@10"] == 0.75
    assert found["baselines"]["bm25"]["recall@10"] == 1
    assert list(found["per_category"]["animals"]) == ["n", "system", "baselines"]
    assert list(found["paired"]["bm25"]["ndcg@10"]) == ["difference", "low", "high", "p"]


def test_people_see_tables_in_percent_and_the_paired_lines(memengine, questions):
    result = memengine("eval", questions, "--baselines")

    assert result.exit_code == 0, result.stderr
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0][:3] == ["questions:", "2", "questions,"]
    assert ["recall@10", "75.0", "100.0"] in rows
    # Ours finds c and not a: 0.61315 beside a 1. BM25 has a next, as the first that ties at 0.
    assert ["NDCG@10", "80.7", "100.0"] in rows
    assert ["MRR", "100.0", "100.0"] in rows
    assert ["recall@10", "by", "category", "balanced", "bm25"] in rows
    assert ["drinks", "(1)", "50.0", "100.0"] in rows
    assert "against bm25: recall@10 -25.0 (-50.0 to +0.0), p 1.0000; NDCG@10 " in result.stdout
    assert "dense, rrf60 and ensemble need an embedder" in result.stdout
    assert "\x1b" not in result.stdout


def test_best_of_a_row_is_bold_where_there_is_another(memengine, questions, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)

    assert "\x1b[1m100.0\x1b[0m" in memengine("eval", questions, "--baselines").stdout
    alone = memengine("eval", questions).stdout
    assert "100.0" in alone
    assert "\x1b[1m100.0" not in alone


def test_limit_takes_the_first_questions(memengine, questions):
    found = memengine.json("eval", questions, "--limit", 1)

    assert (found["n"], found["system"]["recall@1"]) == (1, 1)


def test_embedder_is_the_one_that_was_asked_for(memengine, questions):
    found = memengine.json("eval", questions, "--embeddings", "local")

    assert found["embeddings"] == "WordLlama/l2_supercat_256"


def test_without_documents_the_root_is_asked(memengine, root, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"questions": [{"query": "when do we deploy?", "relevant": ["deploy.md"]}]}')

    found = memengine.json("eval", path, "--root", root, "--baselines")

    assert found["system"]["recall@1"] == 1
    assert found["baselines"]["bm25"]["recall@5"] == 1


def test_a_misspelt_path_is_told_and_fails(memengine, root, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text('{"questions": [{"query": "deploy?", "relevant": ["deplo.md"]}]}')

    result = memengine("eval", path, "--root", root, "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout)["degraded"][0].startswith("'deplo.md' is called relevant")
    assert result.stderr.startswith("warning: 'deplo.md'")


def test_a_graph_of_names_is_compared_with_not_following_it(memengine, questions):
    found = memengine.json("eval", questions, "--graph-names")
    assert list(found["baselines"]) == ["no graph"]
    assert found["paired"]["no graph"]["recall@5"]["difference"] == 0


def test_searches_that_fall_short_are_told_and_fail(memengine, questions, no_answer):
    result = memengine("eval", questions, "--embeddings", "local")

    assert result.exit_code == 1
    assert result.stderr.startswith("warning: 2 of 2 searches: vector: ")
    assert "recall@10" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["eval", "none.json"], "none.json cannot be read"),
        (["eval", "questions.json", "--dataset", "squad"], "Unknown data set 'squad'"),
        (["eval", "questions.json", "--dataset", "xquad"], "has no key 'paragraphs'"),
        (["eval", "questions.json", "--ranking", "best"], "Unknown ranking preset 'best'"),
        (["eval", "questions.json", "--embeddings", "x"], "The embedder 'x' is unknown"),
        (["eval", "bare.json"], "There is no memory at memory"),
        (["eval", "questions.json", "--graph"], "brings no graph of its documents"),
    ],
)
def test_a_call_that_cannot_work_is_one_line(memengine, questions, tmp_path, arguments, complaint):
    (tmp_path / "bare.json").write_text('{"questions": [{"query": "q", "relevant": ["a"]}]}')

    result = memengine(*arguments)

    assert result.exit_code == 2
    assert complaint in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_examples_of_the_page_run(memengine, tmp_path, capsys, monkeypatch):
    saved = re.findall(
        r"`([\w-]+\.json)`:\n\n```json\n(.*?)^```$", read(PAGE), re.DOTALL | re.MULTILINE
    )
    assert len(saved) == len(blocks(PAGE, "json")) == 2
    for name, text in saved:
        (tmp_path / name).write_text(text, encoding="utf-8")
    calls = commands(PAGE)
    assert len(calls) == 8
    for call in calls:
        result = memengine(*call)
        assert result.exit_code == 0, (call, result.stderr)
    run(PAGE)
    assert capsys.readouterr().out.split()[::2] == ["balanced", "rrf", "goclaw"]
    lines = "\n".join(blocks(PAGE, "bash")).splitlines()
    settings = [shlex.split(line) for line in lines if line.startswith("MEMENGINE_")]
    with monkeypatch.context() as patch:
        for setting, _, *call in settings:
            patch.setenv(*setting.split("=", 1))
            assert "ranking yours" in memengine(*call).stdout  # the first setting stays
    assert len(settings) == 2
