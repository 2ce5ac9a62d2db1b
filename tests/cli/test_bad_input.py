"""What can be wrong with the files, the model or the folder of a memory, on the command line."""

import json

import pytest

from langchain_memengine.engine import parts
from langchain_memengine.models.providers import make_embedder
from langchain_memengine.workspace.blank_memory import BLANK_MEMORY
from tests.fakes.embeddings import FakeEmbeddings


def one_line(stream):
    (line,) = stream.splitlines()
    assert "Traceback" not in line
    return line


class OtherEmbeddings(FakeEmbeddings):
    model = "other"


@pytest.fixture
def embed_with(monkeypatch):
    """Let every embedder that is asked for be the given one."""

    def use(embeddings):
        monkeypatch.setattr(
            parts, "make_embedder", lambda *_, **__: make_embedder(embeddings, attempts=1)
        )

    return use


@pytest.fixture
def locked_out(root, monkeypatch):
    """A file that may not be read, whoever runs the tests."""
    from langchain_memengine.workspace import opening

    opened = opening.os.open

    def refusing(path, *arguments, **options):
        if str(path).endswith("coffee.md"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(opening.os, "open", refusing)
    return root


def test_an_empty_folder_is_a_memory_with_nothing_in_it(memengine, tmp_path):
    (tmp_path / "empty").mkdir()

    assert memengine.json("sync", "--root", "empty")["indexed"] == 0
    assert memengine.json("search", "tea", "--root", "empty")["hits"] == []
    assert memengine.json("stats", "--root", "empty")["chunks"] == 0
    assert not (tmp_path / "empty/MEMORY.md").exists()


def test_a_file_that_may_not_be_read_makes_the_sync_partial_and_stops_no_search(
    memengine, locked_out
):
    synced = memengine("sync", "--root", locked_out)

    assert synced.exit_code == 1
    assert "failed coffee.md Permission denied" in " ".join(synced.stdout.split())
    found = memengine("search", "deploy", "--root", locked_out, "--json")
    assert found.exit_code == 1
    assert [hit["path"] for hit in json.loads(found.stdout)["hits"]] == ["deploy.md"]
    assert one_line(found.stderr) == "warning: sync: coffee.md: Permission denied"


def test_a_binary_file_stops_no_search(memengine, root):
    (root / "two\nlines.md").write_bytes(b"\x00\x01")

    assert memengine("sync", "--root", root).exit_code == 0
    result = memengine("search", "deploy", "--root", root, "--json")
    assert result.exit_code == 0
    assert [hit["path"] for hit in json.loads(result.stdout)["hits"]] == ["deploy.md"]


def test_a_binary_memory_file_is_named_and_kept(memengine, root):
    (root / "MEMORY.md").write_bytes(b"\x00\x01")

    recalled = memengine("recall", "deploy", "--root", root, "--json")
    assert recalled.exit_code == 1
    assert "MEMORY.md cannot be read as text: binary" in one_line(recalled.stderr)
    assert memengine("init", root).exit_code == 0
    assert (root / "MEMORY.md").read_bytes() == b"\x00\x01" != BLANK_MEMORY


def test_one_vector_for_several_texts_is_asked_again_and_costs_nothing(memengine, root, embed_with):
    embed_with(FakeEmbeddings(fail_with=[None, lambda vectors: vectors[:1]]))

    synced = memengine("sync", "--root", root, "--json")
    assert synced.exit_code == 0
    report = json.loads(synced.stdout)
    assert (report["embedded"], report["pending"], report["complete"]) == (2, 0, True)


def test_an_embedder_that_answers_nothing_leaves_all_pending_and_is_made_up_for(
    memengine, root, embed_with
):
    embed_with(FakeEmbeddings(fail_with=[None, *[lambda vectors: []] * 20]))

    synced = memengine("sync", "--root", root, "--json")
    assert synced.exit_code == 1
    report = json.loads(synced.stdout)
    assert (report["chunks"], report["embedded"], report["pending"]) == (2, 0, 2)
    assert one_line(synced.stderr).startswith("warning: embeddings: ")
    embed_with(FakeEmbeddings())
    report = memengine.json("sync", "--root", root)
    assert (report["indexed"], report["embedded"], report["pending"]) == (0, 2, 0)


def test_a_model_that_changed_is_announced_and_searched_without(memengine, root, embed_with):
    embed_with(FakeEmbeddings(8))
    assert memengine("sync", "--root", root).exit_code == 0
    embed_with(OtherEmbeddings(16))

    for command in (["sync"], ["search", "deploy"]):
        result = memengine(*command, "--root", root, "--json")
        assert result.exit_code == 1
        assert "memengine sync --reembed" in one_line(result.stderr)
    assert [hit["path"] for hit in json.loads(result.stdout)["hits"]] == ["deploy.md"]
    assert memengine("sync", "--reembed", "--root", root).exit_code == 0
    assert memengine("search", "deploy", "--root", root).exit_code == 0


@pytest.mark.parametrize("name", ["MEMENGINE_RANKING", "MEMENGINE_EMBEDDINGS"])
def test_a_setting_that_cannot_work_is_named(memengine, root, monkeypatch, name):
    monkeypatch.setenv(name, "best:1")

    result = memengine("search", "deploy", "--root", root)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'best:1'" in one_line(result.stderr)


def test_a_key_that_is_missing_is_named_before_anything_is_done(memengine, root, monkeypatch):
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for model, variable in (("openai:x", "OPENAI_API_KEY"), ("google_genai:x", "GOOGLE_API_KEY")):
        result = memengine("sync", "--root", root, "--embeddings", model)
        assert (result.exit_code, result.stdout) == (2, "")
        assert variable in one_line(result.stderr)
    assert memengine.json("sync", "--root", root)["indexed"] == 2
