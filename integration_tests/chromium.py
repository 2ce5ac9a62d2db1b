"""Debian's Chromium, without a window and without a network beyond this machine."""

import os
import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)  # fmt: skip


def need(what: object, reason: str) -> None:
    """Skip a test that lacks something; fail it where ``MEMENGINE_BROWSER=required`` is set."""
    if what:
        return
    if os.environ.get("MEMENGINE_BROWSER") == "required":
        pytest.fail(reason)
    pytest.skip(reason)
