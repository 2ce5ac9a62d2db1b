"""memengine mcp in a terminal; what it serves is tested with its server."""

from langchain_memengine.cli import serving
from langchain_memengine.faces import mcp_server


def test_memory_that_is_not_there_is_named(memengine):
    result = memengine("mcp", "--root", "nowhere")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "There is no memory at nowhere. Run: memengine init nowhere" in result.stderr


def test_server_is_run_for_the_user_on_the_memory(memengine, root, monkeypatch):
    served = []

    class Server:
        def run(self):
            served.append("run")

    def serve(engine, *, actor):
        served.extend([engine.root, engine.search("coffee").hits != (), actor.user_id])
        return Server()

    monkeypatch.setattr(mcp_server, "mcp_server", serve)
    assert memengine("mcp", "--root", root, "--user", "anna").exit_code == 0
    assert served == [root, True, "anna", "run"]


def test_memory_on_a_read_only_file_system_is_served_to_be_read(memengine, root, monkeypatch):
    memengine("sync", "--root", root)
    served = []

    class Server:
        def run(self):
            pass

    def serve(engine, *, actor):
        served.append((engine.read_only, len(engine.search("coffee", actor=actor).hits)))
        return Server()

    monkeypatch.setattr(serving, "may_only_be_read", lambda _folder: True)
    monkeypatch.setattr(mcp_server, "mcp_server", serve)
    assert memengine("mcp", "--root", root).exit_code == 0
    assert served == [(True, 1)]
