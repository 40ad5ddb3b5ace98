"""The page in a real browser that has no network."""

from __future__ import annotations

import pytest

from allrelevant.report import write_report
from browser import chromium, console_errors, open_address, prefer_colours, requests, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

EVIL = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"


@pytest.fixture(scope="module")
def driver():
    with chromium(1200, 900) as driver:
        yield driver


@pytest.fixture
def page(driver, make_findings, tmp_path):
    """Open the report of findings as a file, and return the driver and the address."""

    def open_page(*counts, **options):
        path = write_report(make_findings(*counts, **options), tmp_path / "report.html", title=EVIL)
        driver.get("about:blank")
        requests(driver)
        console_errors(driver)
        open_address(driver, path.as_uri())
        return driver, path.as_uri()

    return open_page


def script(driver, code):
    return driver.execute_script(f"return {code}")


def visible(driver, selector):
    return script(driver, f"[...document.querySelectorAll('{selector}')].filter((x) => x.checkVisibility()).length")


def names(driver):
    """Names in the table that can be seen, from top to bottom."""
    return script(
        driver,
        "[...document.querySelectorAll('#features tbody tr')].filter((row) => row.checkVisibility())"
        ".map((row) => row.cells[0].textContent)",
    )


def change(driver, selector, value):
    driver.execute_script(
        "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
        "field.dispatchEvent(new Event('input')); field.dispatchEvent(new Event('change'))",
        selector,
        value,
    )


def test_draws_all_plots_and_asks_for_nothing(page):
    driver, address = page(2, 4, 3)
    assert visible(driver, "figure.drawn") == 5
    assert visible(driver, ".live svg.main-svg") >= 5
    assert visible(driver, ".still svg") == 0
    assert script(driver, "document.querySelectorAll('#plot-features .bars .point').length") == 9
    assert script(driver, "document.querySelectorAll('#plot-groups .scatterlayer .trace').length") > 0
    assert script(driver, "document.querySelectorAll('#plot-substitutes .heatmaplayer image').length") == 1
    assert console_errors(driver) == []
    assert requests(driver) == [address]
    assert script(driver, "performance.getEntriesByType('resource').filter((x) => !/^data:/.test(x.name))") == []


def test_hatches_weakly_relevant_bars(page):
    driver, _ = page(2, 4, 3)
    assert script(driver, "document.querySelectorAll('#plot-features pattern').length") >= 1


def test_offers_no_button_that_would_send_data(page):
    driver, _ = page(2, 4, 3)
    buttons = script(driver, "[...document.querySelectorAll('.modebar-btn')].map((x) => x.dataset.title || '')")
    assert buttons
    assert set(buttons) <= {"Download plot as a PNG", "Download plot as a png", "Zoom", "Pan", "Reset axes"}


def test_names_do_no_harm(page):
    evil = [EVIL, "<b>bold</b>", *(f"f{k}" for k in range(7))]
    driver, _ = page(3, 3, 3, names=evil)
    assert script(driver, "window.hurt === undefined")
    assert script(driver, "document.querySelector('h1').textContent") == EVIL
    assert set(evil) <= set(names(driver))
    ticks = script(driver, "[...document.querySelectorAll('#plot-features .ytick text')].map((t) => t.textContent)")
    assert "<b>bold</b>" in ticks
    assert console_errors(driver) == []


def test_table_can_be_searched(page):
    driver, _ = page(2, 4, 3)
    assert len(names(driver)) == 9
    change(driver, "#features input", " FEATURE 3 ")
    assert names(driver) == ["feature 3"]
    assert script(driver, "document.querySelector('.count').textContent") == "1 of 9 features"
    change(driver, "#features input", "")
    change(driver, "#features select", "weak")
    assert len(names(driver)) == 4


def test_table_can_be_sorted(page, make_findings):
    driver, _ = page(2, 4, 3)
    result = make_findings(2, 4, 3).result
    by_rank = [result.feature_names[k] for k in result.ranking()]
    assert names(driver) == by_rank

    def click(key):
        driver.execute_script(f"document.querySelector('#features th[data-key={key}] button').click()")
        return script(driver, f"document.querySelector('#features th[data-key={key}]').getAttribute('aria-sort')")

    assert click("name") == "ascending"
    assert names(driver) == sorted(result.feature_names)
    assert click("name") == "descending"
    assert names(driver) == sorted(result.feature_names, reverse=True)
    assert click("maximum") == "descending"
    assert names(driver)[0] == result.feature_names[result.intervals[:, 1].argmax()]
    assert script(driver, "document.querySelectorAll('#features th[aria-sort]').length") == 1
    assert click("rank") == "ascending"
    assert names(driver) == by_rank


def test_long_table_waits_behind_a_button(page):
    driver, _ = page(3, 7, 190)
    assert len(names(driver)) == 40
    change(driver, "#features input", "feature 199")
    assert names(driver) == ["feature 199"]
    change(driver, "#features input", "")
    driver.execute_script("document.querySelector('.more').click()")
    assert len(names(driver)) == 200
    assert visible(driver, ".more") == 0


def test_print_has_drawings_that_stand_still_and_no_controls(page):
    driver, _ = page(3, 7, 60)
    try:
        prefer_colours(driver, dark=False, medium="print")
        assert visible(driver, ".live") == 0
        assert visible(driver, ".still > svg") == 5
        assert visible(driver, "nav") == visible(driver, ".controls") == visible(driver, ".more") == 0
        assert len(names(driver)) == 70
    finally:
        prefer_colours(driver, dark=False)


def test_follows_the_choice_of_light_or_dark(page):
    driver, _ = page(2, 4, 3)
    colour = "getComputedStyle(document.querySelector('#plot-features .ytick text')).fill"
    light = script(driver, colour)
    try:
        prefer_colours(driver, dark=True)
        later = f"const done = arguments[0]; setTimeout(() => done({colour}), 1500)"
        dark = driver.execute_async_script(later)
    finally:
        prefer_colours(driver, dark=False)
    assert light == "rgb(36, 41, 47)"
    assert dark == "rgb(230, 237, 243)"


@pytest.mark.parametrize("width", [400, 900])
def test_fits_the_screen(make_findings, tmp_path, width):
    names = ["a name that is much too long to be shown in full on a telephone", *(f"f{k}" for k in range(29))]
    path = write_report(make_findings(4, 12, 14, names=names), tmp_path / "report.html")
    with chromium(width, 800) as driver:
        open_address(driver, path.as_uri())
        assert script(driver, "document.documentElement.scrollWidth") == width
        assert console_errors(driver) == []


def test_makes_sense_without_scripts(make_findings, tmp_path):
    path = write_report(make_findings(3, 7, 60), tmp_path / "report.html")
    with chromium(900, 800, scripts=False) as driver:
        open_address(driver, path.as_uri())
        shown = [one.is_displayed() for one in driver.find_elements("css selector", ".still > svg")]
        assert shown == [True] * 5
        for selector in (".controls", ".more", ".live"):
            assert not any(one.is_displayed() for one in driver.find_elements("css selector", selector))
        assert len(driver.find_elements("css selector", "#features tbody tr")) == 70
        assert requests(driver) == [path.as_uri()]
