"""A real browser without a network, for tests of pages."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless=new",
    "--no-sandbox",  # which a browser started by root, as in containers, cannot have
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def why_not() -> str:
    """Say what to install for tests in a browser, or nothing if all is there.

    Use it as ``@pytest.mark.skipif(bool(why_not()), reason=why_not())``. Where the environment variable
    ``ALLRELEVANT_BROWSER_TESTS`` is "required", a missing browser is an error.
    """
    reason = ""
    if importlib.util.find_spec("selenium") is None:
        reason = "tests in a browser need selenium: pip install 'allrelevant[test]'"
    elif _chromium() is None or _chromedriver() is None:
        reason = "tests in a browser need Chromium: install Debian's chromium and chromium-driver"
    if reason and os.environ.get("ALLRELEVANT_BROWSER_TESTS") == "required":
        raise RuntimeError(reason)
    return reason


def _chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _chromedriver() -> str | None:
    return shutil.which("chromedriver")


@contextmanager
def chromium(
    width: int = 1200,
    height: int = 900,
    *,
    dark: bool = False,
    scripts: bool = True,
    local: bool = False,
    names: Mapping[str, str] | None = None,
) -> Iterator[Any]:
    """Start a headless Chromium, and end it.

    Parameters
    ----------
    width, height : int
        Size of the page in CSS pixels; widths of phones are possible.
    dark : bool
        Whether the reader prefers dark pages.
    scripts : bool
        Whether scripts run.
    local : bool
        Whether addresses on this machine can be reached; other ones never can.
    names : dict, default=None
        Names of other machines, with the address that each is made to point to.

    Yields
    ------
    selenium.webdriver.Chrome
        The driver. :func:`console_errors` and :func:`requests` read its logs.
    """
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(_chromium())
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        here = ", EXCLUDE 127.0.0.1, EXCLUDE localhost" if local else ""
        there = "".join(f"MAP {name} {address}, " for name, address in (names or {}).items())
        for flag in (
            *FLAGS,
            f"--host-resolver-rules={there}MAP * ~NOTFOUND{here}",
            f"--user-data-dir={profile}",
            f"--window-size={max(width, 500)},{height}",
        ):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        driver = webdriver.Chrome(options=options, service=Service(_chromedriver()))
        try:
            driver.set_page_load_timeout(120)
            driver.set_script_timeout(60)
            # The window has a least width; the page has not.
            driver.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
            )
            prefer_colours(driver, dark=dark)
            # What the browser loads to show itself is no concern of the page.
            driver.get("about:blank")
            driver.get_log("performance")
            driver.get_log("browser")
            yield driver
        finally:
            driver.quit()


def open_address(driver: Any, address: str) -> None:
    """Open a page and wait until it is there: on a busy machine the driver may come back from a page before."""
    from selenium.webdriver.support.ui import WebDriverWait

    driver.get(address)
    there = "return location.href === arguments[0] && document.readyState === 'complete'"
    WebDriverWait(driver, 60).until(lambda driver: driver.execute_script(there, address))


def prefer_colours(driver: Any, *, dark: bool, medium: str = "") -> None:
    """Make the reader prefer dark or light pages, and the medium ``"print"`` if asked for."""
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})


def console_errors(driver: Any) -> list[str]:
    """Return the errors and warnings on the console since the last call."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in {"SEVERE", "WARNING"}]


def requests(driver: Any) -> list[str]:
    """Return the addresses that the page asked for since the last call, data that pages carry along left out."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    return [address for address in sent if not address.startswith(("data:", "blob:", "chrome:", "about:"))]


def screenshot(driver: Any, path: str | Path) -> Path:
    """Write the whole page, as long as it is, as a PNG image."""
    import base64

    size = driver.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
    image = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    path = Path(path)
    path.write_bytes(base64.b64decode(image["data"]))
    return path
