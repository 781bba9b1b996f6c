"""Pages in a browser without a window: on a phone and on a desk, without overflow and errors, and the search finds."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
PAGES = [
    *(f"{name}.html" for name in ("index", "tutorial", "transforms", "interop", "chainer", "benchmarks", "guides")),
    *(f"{name}.html" for name in ("changelog", "gallery/index", "gallery/gaussian_process", "notebooks/fit", "search")),
    *(f"conformance/{name}.html" for name in ("index", "findings")),
    *(f"reference/{name}.html" for name in ("index", "xpgrad.functions", "xpgrad.Variable", "xpgrad.transforms.vmap")),
    "reference/xpgrad.array_api.logsumexp.html",
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site behind a server of this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install --group docs")
    if BROWSER is None:
        pytest.skip("needs chromium")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def errors() -> list[str]:
    """What a page complains of in the console."""
    return []


@pytest.fixture(params=[375, 1280])
def page(request: pytest.FixtureRequest, browser: Any, address: str, errors: list[str]) -> Iterator[Any]:
    """A page of the browser, as wide as a phone or a desk. Nothing outside the site is loaded."""
    context = browser.new_context(viewport={"width": request.param, "height": 800}, base_url=address)
    page = context.new_page()
    page.route("**", lambda route: route.continue_() if route.request.url.startswith(address) else route.abort())
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    yield page
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_the_width_and_has_no_errors(page: Any, errors: list[str], name: str) -> None:
    page.goto(f"/{name}")
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0
    assert [error for error in errors if "ERR_FAILED" not in error] == []  # the versions are asked of the real site


def test_the_search_finds_a_function(page: Any) -> None:
    page.goto("/search.html?q=logsumexp")
    page.wait_for_selector("#search-results ul.search li a")
    found = page.eval_on_selector_all("#search-results ul.search li a", "links => links.map(link => link.href)")
    assert any("xpgrad.array_api.logsumexp" in link for link in found[:5])


def test_the_theme_can_be_dark(page: Any) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto("/index.html")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
