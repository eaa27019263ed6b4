"""The address bar is the saved state: settings, step and language travel in it, between readers and pages."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from tests.browser.expect import array, assert_grid, run_of

CAT = "the cat sat on the mat"
SETTINGS = {"text": "小明 把 书 放 在 桌子 上", "mask": "window", "width": 2, "heads": 4, "kv_heads": 1,
            "d_k": 6, "positions": "rotary", "scale": "off", "seed": 7, "prompt": 3}  # fmt: skip


def query_of(href: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(href).query, keep_blank_values=True))


def test_a_link_brings_back_settings_and_step(open_page):
    visit = open_page(**SETTINGS, head=3, step=5)
    assert (visit.step, visit.steps) == (4, 7)
    run = run_of(**SETTINGS)
    assert_grid(visit.grid("weights"), array(run.layers[0].cached_weights)[2])
    link = {**{name: str(value) for name, value in SETTINGS.items()}, "head": "3", "step": "5"}
    assert visit.link == {"source": "random", **link}


def test_a_pasted_link_means_the_same_in_the_other_language(open_page):
    first = open_page(**SETTINGS, head=3).press("ArrowRight").at(3)
    first.page.wait_for_timeout(1200)
    assert first.link["step"] == "4"
    other = open_page("/", locale="zh", stage=False).go(first.page.url)
    other.at(3)
    assert other.stage.get_attribute("data-lang") == "zh"
    assert first.grid("weights") == other.grid("weights")
    assert {**other.link, "lang": ""} == {**first.link, "lang": ""}


def test_the_step_reaches_the_link_when_the_reader_pauses(open_page):
    visit = open_page(text=CAT, prompt=2)
    entries = visit.page.evaluate("history.length")
    visit.press(*["ArrowRight"] * 3).at(4)
    visit.page.wait_for_function("() => new URLSearchParams(location.search).get('step') === '5'")
    assert visit.page.evaluate("history.length") == entries, "a step must not fill the history"
    visit.page.reload()
    visit.stage.wait_for()
    visit.quiet().at(4)


def test_a_changed_control_reaches_the_link(open_page):
    visit = open_page(text=CAT, prompt=2).press("End").at(5)
    slider = visit.control("d_k").locator("input[type=range], input[type=number]").first
    slider.focus()
    slider.press("ArrowUp")
    visit.page.wait_for_function("() => new URLSearchParams(location.search).get('d_k') === '9'")
    visit.quiet()
    assert visit.step == 5, "the wanted step survives"
    assert_grid(visit.grid("weights"), array(run_of(text=CAT, prompt=2, d_k=9).layers[0].cached_weights)[0])


def test_cold_deep_link_to_the_second_page(open_page):
    visit = open_page("/about", stage=False, **SETTINGS, head=3, locale="en")
    visit.page.get_by_role("heading").first.wait_for()
    home = visit.page.locator("[data-testid=stPageLink] a").first
    home.wait_for()
    visit.quiet()
    home.click()
    visit.stage.wait_for()
    visit.quiet()
    assert visit.steps == 7
    run = run_of(**SETTINGS)
    visit.press("End").at(6)
    assert_grid(visit.grid("weights"), array(run.layers[0].cached_weights)[2])


def test_a_cold_deep_link_in_chinese(open_page):
    visit = open_page("/about", stage=False, text=CAT, lang="zh")
    visit.page.get_by_role("heading").first.wait_for()
    visit.quiet()
    assert any("一" <= letter <= "鿿" for letter in visit.page.locator("[data-testid=stMain]").inner_text())


def test_sentence_and_settings_survive_another_page(open_page):
    visit = open_page(text=CAT, d_k=6, mask="window", width=2, heads=4, kv_heads=1, head=2, seed=3)
    visit.type_text("dog bites man and runs")
    visit.page.wait_for_selector("[data-testid=stage][data-steps='5']")
    before = visit.press("End").at(4).grid("weights")
    links = visit.page.locator("[data-testid=stPageLink] a")
    links.filter(visible=True).last.click()
    visit.stage.wait_for(state="detached")
    visit.quiet()
    assert "/about" in visit.page.url
    visit.page.locator("[data-testid=stPageLink] a").filter(visible=True).first.click()
    visit.stage.wait_for()
    visit.quiet().press("End").at(4)
    assert visit.grid("weights") == before
    wanted = {"text": "dog bites man and runs", "d_k": "6", "mask": "window", "width": "2", "heads": "4",
              "kv_heads": "1", "head": "2", "seed": "3"}  # fmt: skip
    assert wanted.items() <= visit.link.items()


def test_the_links_between_pages_carry_the_settings(open_page):
    visit = open_page(text=CAT, d_k=6, mask="window")
    hrefs = visit.page.locator("[data-testid=stPageLink] a").evaluate_all("links => links.map(a => a.href)")
    about = next(href for href in hrefs if "/about" in href)
    assert {"text": CAT, "d_k": "6", "mask": "window"}.items() <= query_of(about).items()


def test_language_switch(open_page):
    visit = open_page(text=CAT, mask="window", width=2)
    before = visit.grid("weights")
    visit.page.get_by_text("中文", exact=True).first.click()
    visit.page.wait_for_selector("[data-testid=stage][data-lang=zh]")
    visit.quiet()
    assert visit.grid("weights") == before
    assert visit.link["lang"] == "zh" and visit.link["mask"] == "window"
    visit.page.reload()
    visit.page.wait_for_selector("[data-testid=stage][data-lang=zh]")
    visit.quiet()
    visit.page.get_by_text("English", exact=True).first.click()
    visit.page.wait_for_selector("[data-testid=stage][data-lang=en]")


def test_first_visit_speaks_the_browsers_language(open_page):
    assert open_page(locale="zh").stage.get_attribute("data-lang") == "zh"
    assert open_page(locale="en").stage.get_attribute("data-lang") == "en"


def test_link_parameters_that_mean_nothing(open_page):
    bad = {
        "d_k": -1,
        "heads": "abc",
        "mask": "<b>",
        "seed": "1e9999",
        "step": "99",
        "layer": "7",
        "nonsense": "x",
    }
    bad |= {"temperature": "nan", "breaks": "position,<i>", "dtype": "int4", "prompt": "40"}
    visit = open_page(text=CAT, **bad)
    assert visit.steps == 6
    said = visit.page.locator("body").inner_text()
    for arrived in ("abc", "-1", "<b>", "nan", "int4", "40", "<i>"):
        assert arrived in said.replace("−", "-"), arrived
    assert visit.page.locator("[data-testid=stMain] b, [data-testid=stMain] i").filter(has_text="position").count() == 0


def test_reset(open_page):
    visit = open_page(text=CAT, d_k=6, mask="window", locale="en")
    visit.page.get_by_role("button", name="Reset").first.click()
    visit.page.wait_for_function("() => !new URLSearchParams(location.search).has('d_k')")
    visit.quiet()
    assert "mask" not in visit.link
    assert {row for row, _ in visit.grid("k-cache")} and len(visit.grid("k-cache")) == 32 * visit.steps


def test_nothing_leaves_this_machine(open_page):
    visit = open_page(text=CAT).press("End")
    visit.page.wait_for_timeout(500)
    assert visit.record.hosts <= {"127.0.0.1", ""}
