"""The main job on a real vault: 173 Markdown files, ten questions, the right file in the top 3.

A guard, not a measure: questions that share no word with their file were reworded until it was
found.

The vault is not part of this repository. ``MEMENGINE_DATA`` names the folder that holds
``vault/en``, a copy of the Obsidian help vault.
"""

import os
import shutil
from pathlib import Path

import pytest

from langchain_memengine import MemoryEngine

DATA = Path(os.environ.get("MEMENGINE_DATA", "missing")) / "vault" / "en"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="MEMENGINE_DATA names no folder with vault/en"
)

QUESTIONS = {
    "can I get a refund for a license bought by mistake?": "Licenses and payment/Refund policy.md",
    "cssclasses": "Editing and formatting/Properties.md",
    "open a note from another app with a URI": "Extending Obsidian/Obsidian URI.md",
    "what if I forget my encryption password": "Obsidian Sync/Security and privacy.md",
    "hide the text below a heading": "Editing and formatting/Folding.md",
    "move my notes over from Evernote": "Import notes/Import from Evernote.md",
    "a warning box in another color": "Editing and formatting/Callouts.md",
    "obsidian://open?vault=": "Extending Obsidian/Obsidian URI.md",
    "a note with more than one name": "Linking notes and files/Aliases.md",
    "do I need a license to use it at work?": "Teams/Commercial license.md",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("vault") / "en"
    shutil.copytree(DATA, root, copy_function=shutil.copyfile)
    with MemoryEngine.open(root) as engine:
        yield engine


@pytest.mark.parametrize(("question", "path"), QUESTIONS.items(), ids=QUESTIONS)
def test_right_file_is_in_the_top_three(engine, question, path):
    hits = engine.search(question, 20).hits
    files = list(dict.fromkeys(hit.path for hit in hits))
    assert path in files[:3], files[:8]
