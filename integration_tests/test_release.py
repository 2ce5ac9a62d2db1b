"""What `make dist` makes: it holds what it should, and works where it is installed."""

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def run(*command, cwd):
    """Return what a command prints, away from the checkout; it must succeed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(  # noqa: S603  # our own tools
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """Build both distributions without a network; return the folder."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(release):
    (path,) = release.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_its_licence_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    package = ROOT / "langchain_memengine"
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    inside, beside = (
        {name for name in names if name.startswith("langchain_memengine/") is part}
        for part in (True, False)
    )
    assert inside == ours
    assert "langchain_memengine/py.typed" in inside
    assert {name.partition("/")[2] for name in beside} == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
    }


def test_what_the_wheel_says_of_itself(wheel):
    archive = zipfile.ZipFile(wheel)
    (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    said = message_from_string(archive.read(metadata).decode())
    assert said["License-Expression"] == "MIT"
    assert said["Requires-Python"] == ">=3.11"
    minors = [re.fullmatch(r"Programming.* :: 3\.(\d+)", one) for one in said.get_all("Classifier")]
    assert [int(found[1]) for found in minors if found] == [11, 12, 13]
    assert said.get_payload().startswith("# langchain-memengine")
    unconditional = [one for one in said.get_all("Requires-Dist") if "extra ==" not in one]
    assert not any(re.match("pytest|mkdocs|twine|hatchling", one) for one in unconditional)


def test_the_source_distribution_holds_what_its_tests_read(release):
    (path,) = release.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "Makefile", "mkdocs.yml", "docs/index.md", "examples/agent.py"} <= names
    assert {"tests/conftest.py", "langchain_memengine/py.typed", "LICENSE"} <= names
    assert not any(name.startswith(("build/", ".venv/", "memory/")) for name in names)


def test_both_pass_the_check_of_a_registry(release):
    told = run(sys.executable, "-m", "twine", "check", "--strict", *release.iterdir(), cwd=release)
    assert told.count("PASSED") == 2


def test_the_wheel_installs_and_runs_where_nothing_of_the_checkout_is(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=tmp_path)
    # Its dependencies are those of this environment, without what is installed as a checkout.
    home = Path(
        run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=tmp_path).strip()
    )
    (home / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")

    installed = run(
        python, "-c", "import langchain_memengine as m; print(m.__file__)", cwd=tmp_path
    )
    assert Path(installed.strip()).is_relative_to(home)
    memengine = tmp_path / "venv" / "bin" / "memengine"
    assert run(memengine, "--version", cwd=tmp_path).startswith("memengine 0.")
    run(memengine, "init", "notes", cwd=tmp_path)
    run(memengine, "add", "Deploys happen on Tuesdays.", "--root", "notes", cwd=tmp_path)
    found = run(memengine, "search", "when do we deploy?", "--root", "notes", cwd=tmp_path)
    assert "Deploys happen on Tuesdays." in found
