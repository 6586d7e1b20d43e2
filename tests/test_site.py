"""The pages as a reader meets them: built, opened from a file, searched, in the dark."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("furo", reason="furo is not installed")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
DOCS = Path(__file__).resolve().parents[1] / "docs"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages without gallery and reference, which take minutes."""
    folder = tmp_path_factory.mktemp("site")
    light = ["myst_parser", "sphinx.ext.mathjax", "sphinx.ext.intersphinx"]
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-D"]
    command += [f"extensions={','.join(light)}", str(DOCS), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def test_search_works_from_a_file(site, browser):
    page = browser.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q=certificate")
    first = page.locator("#search-results li a").first
    first.wait_for(timeout=20_000)
    titles = page.locator("#search-results li a").all_inner_texts()
    assert any("Certificates" in title for title in titles)
    first.click()
    assert page.url.startswith("file://")
    assert page.locator("article h1").count() == 1
    page.close()


def test_light_and_dark(site, browser):
    grounds = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto((site / "how-it-works.html").as_uri())
        code = "() => getComputedStyle(document.body).backgroundColor"
        red, green, blue = (int(x) for x in page.evaluate(code)[4:-1].split(","))
        grounds[scheme] = red + green + blue
        assert page.locator("article img").count() == 5
        broken = "() => [...document.images].filter(i => !i.naturalWidth).length"
        assert page.evaluate(broken) == 0
        page.close()
    assert grounds["light"] > 600
    assert grounds["dark"] < 150


def test_names_of_others_are_links(site):
    text = (site / "something-else.html").read_text("utf-8")
    assert "https://scikit-learn.org/stable/modules/generated/sklearn.cluster.HDBSCAN.html" in text
