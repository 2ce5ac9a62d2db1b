"""The commands on the graph."""

import json

import pytest

TRIPLES = [["Anna", "knows", "Bert"], ["Bert", "chose", "tea"]]


@pytest.fixture
def known(memengine, root, tmp_path):
    path = tmp_path / "triples.json"
    path.write_text(json.dumps(TRIPLES), encoding="utf-8")
    result = memengine("graph", "import", path, "--root", root)
    assert (result.exit_code, result.stdout) == (0, "2 triples learnt.\n")
    return root


def test_relations_are_shown_by_hops(memengine, known):
    result = memengine("graph", "show", "anna", "--root", known)
    assert (result.exit_code, result.stdout) == (0, "Anna —knows→ Bert\n")
    found = memengine.json("graph", "show", "anna", "--hops", 2, "--root", known)
    assert [one["type"] for one in found["relations"]] == ["knows", "chose"]


def test_what_is_shown_as_json_is_imported(memengine, known, tmp_path):
    found = memengine("graph", "show", "bert", "--root", known, "--json").stdout
    (tmp_path / "again.json").write_text(found, encoding="utf-8")
    again = memengine.json("graph", "import", tmp_path / "again.json", "--root", known)
    assert again == {"triples": 2}
    stats = memengine("graph", "stats", "--root", known).stdout
    assert stats == "3 entities, 2 relations, from 1 memory.\n"


def test_pictures_are_written(memengine, known, tmp_path):
    result = memengine(
        "graph", "show", "anna", "--html", tmp_path / "g.html", "--svg", tmp_path / "g.svg",
        "--root", known,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "knows" in (tmp_path / "g.html").read_text(encoding="utf-8")
    assert (tmp_path / "g.svg").read_text(encoding="utf-8").startswith("<svg")


def test_size_is_told_per_user(memengine, known):
    assert memengine.json("graph", "stats", "--root", known) == {
        "entities": 3,
        "relations": 2,
        "evidence": 1,
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is no JSON"),
        ("[" * 99_999, "is no JSON"),
        ('{"a": 1}', "has no list of triples"),
        ('[["a"]]', "has 1 parts"),
    ],
)
def test_a_file_of_another_shape_is_explained(memengine, root, tmp_path, content, said):
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    result = memengine("graph", "import", tmp_path / "bad.json", "--root", root)
    assert result.exit_code in {1, 2}
    assert said in result.stderr


def test_unknown_names_and_files_are_one_line(memengine, known):
    result = memengine("graph", "show", "nobody", "--root", known)
    assert result.exit_code == 1
    assert result.stderr.startswith("error: The graph has no entity called 'nobody'.")
    assert memengine("graph", "import", "missing.json", "--root", known).exit_code == 2
