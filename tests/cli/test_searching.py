"""search, explain and recall."""

import pytest

from langchain_memengine.cli.hits import ID_DIGITS


def test_search_prints_json_of_a_fixed_shape(memengine, root):
    found = memengine.json("search", "deploy tuesdays", "--root", root, "-k", 1)

    assert list(found) == ["hits", "degraded", "timings"]
    assert found["degraded"] == []
    assert found["timings"]["total"] > 0
    (hit,) = found["hits"]
    assert list(hit)[:7] == ["id", "path", "start_line", "end_line", "text", "score", "receipt"]
    assert len(hit["id"]) == 64
    assert (hit["path"], hit["start_line"], hit["end_line"]) == ("deploy.md", 1, 3)
    assert hit["text"] == "# Deploys\n\nWe deploy on Tuesdays."
    assert (hit["receipt"]["keyword_rank"], hit["receipt"]["cosine"]) == (1, None)


def test_search_for_people_shows_place_text_and_receipt(memengine, root):
    lines = memengine("search", "machine", "--root", root).stdout.splitlines()

    assert lines[0] == " 1  coffee.md:5-7  Coffee"
    assert lines[1] == "    The machine is on floor two."
    assert lines[2].startswith("    bm25 ██████ ")
    assert len(lines[2].rpartition(" · ")[2]) == ID_DIGITS


def test_filters_by_path_and_time_apply(memengine, root):
    def paths(*filters):
        hits = memengine.json("search", "machine deploy", "--root", root, *filters)["hits"]
        return sorted(hit["path"] for hit in hits)

    assert paths() == ["coffee.md", "deploy.md"]
    assert paths("--path", "dep*.md") == ["deploy.md"]
    assert paths("--since", "2026-03-01", "--until", "2026-03-02") == ["coffee.md"]
    assert paths("--until", "2026-03-01") == []


@pytest.mark.parametrize("preset", ["balanced", "rrf", "goclaw", "decsr", "profclaw"])
def test_the_ranking_is_the_one_that_was_asked_for(memengine, root, preset):
    found = memengine.json("search", "machine", "--root", root, "--ranking", preset)

    assert found["hits"][0]["receipt"]["ranking"] == preset


def test_no_hit_is_no_failure(memengine, root):
    result = memengine("search", "zebra", "--root", root)

    assert result.exit_code == 0
    assert result.stdout.startswith("Nothing found")


@pytest.mark.parametrize("command", ["search", "recall"])
def test_a_blank_memory_says_what_to_do_next(memengine, command):
    memengine("init", "brain")

    result = memengine(command, "anything", "--root", "brain")

    assert result.exit_code == 0
    assert 'memengine add "Deploys happen on Tuesdays." --root brain' in (
        result.stdout + result.stderr
    )


def test_a_search_that_falls_short_says_so_and_fails(memengine, root, no_answer):
    result = memengine("search", "machine", "--root", root)

    assert result.exit_code == 1
    assert "coffee.md" in result.stdout
    assert "warning: vector: " in result.stderr


def test_bytes_that_are_no_text_do_not_break_a_query(memengine, root):
    # An argument that is not UTF-8 arrives with lone surrogates.
    found = memengine.json("search", "machine \udce9", "--root", root, "--embeddings", "local")

    assert found["hits"][0]["path"] == "coffee.md"
    assert found["degraded"] == []


def test_explain_takes_the_id_that_search_shows(memengine, root):
    shown = memengine("search", "machine", "--root", root).stdout.split()[-1]

    result = memengine("explain", "machine", shown, "--root", root)

    assert result.exit_code == 0
    assert result.stdout.startswith("It is a hit. Found because its words match")
    assert "rank 1" in result.stdout


def test_explain_takes_a_file_and_the_id_of_a_text_as_they_are_written(memengine, root):
    memengine("add", "Ovens are hot.", "--id", "Ovens", "--root", root)
    assert memengine("explain", "machine", "coffee.md", "--root", root).exit_code == 0
    assert memengine.json("explain", "hot", "Ovens", "--root", root)["found"]


def test_filters_that_leave_nothing_are_named(memengine, root):
    result = memengine("search", "machine", "--path", "nowhere/**", "--root", root)
    assert (result.exit_code, result.stdout) == (
        0,
        "Nothing found within these filters. Try again without one of them.\n",
    )


def test_explain_says_why_not(memengine, root):
    coffee = memengine.json("search", "machine", "--root", root)["hits"][0]["id"]

    why = memengine.json("explain", "deploy", coffee, "--root", root)

    assert list(why) == ["chunk_id", "found", "reason", "rank", "hit"]
    assert (why["found"], why["hit"]) == (False, None)
    assert why["reason"].startswith("No word of the query occurs in it")
    told = memengine("explain", "deploy", coffee, "--root", root).stdout.splitlines()
    assert "".join(told) == f"It is no hit. {why['reason']}"


def test_a_reason_is_one_line_for_who_reads_a_pipe(memengine, root):
    why = memengine("explain", "no such words as these " * 9, "coffee.md", "--root", root).stdout

    assert len(why) > 80
    assert why.count("\n") == 1


def test_recall_prints_pinned_facts_and_hits(memengine, root):
    (root / "MEMORY.md").write_text("- Ann decides.\n")

    fragment = memengine("recall", "machine", "--root", root).stdout

    assert fragment.index("- Ann decides.") < fragment.index("floor two")
    recalled = memengine.json("recall", "machine", "--root", root)
    assert recalled["fragment"] == fragment
    assert [hit["path"] for hit in recalled["hits"]] == ["coffee.md"]


def test_escape_sequences_and_markup_of_a_memory_do_not_reach_the_terminal(memengine, root):
    hostile = "\x1b[2J\x1b]0;owned\x07[red]price[/red] \x9b31mgo\u202e \x07now :smile: [/]"
    (root / "evil\x1b[31m.md").write_text(f"# \x1b[5mprice\n\n{hostile}\n", encoding="utf-8")

    for command in ("search", "recall"):
        shown = memengine(command, "price", "--root", root)
        assert shown.exit_code == 0
        assert "[red]price[/red] go now :smile: [/]" in shown.stdout
        assert not set(shown.stdout) & set("\x1b\x07\x9b\u202e")
    as_json = memengine("search", "price", "--root", root, "--json")
    assert not set(as_json.stdout) & set("\x1b\x07\x9b\u202e")


def test_words_of_the_query_are_highlighted_only_where_colours_are_wanted(
    memengine, root, monkeypatch
):
    assert "\x1b" not in memengine("search", "deploying", "--root", root).stdout

    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;33mdeploy\x1b[0m" in memengine("search", "deploying", "--root", root).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "33mdeploy" not in memengine("search", "deploying", "--root", root).stdout
