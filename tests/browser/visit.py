"""One reader at the page: opens it, steps the stage, reads its cells by the attributes that it promises."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from tests.browser.harness import Record, address

STAGE = "[data-testid=stage]"
QUIET = (
    "() => { const app = document.querySelector('[data-testid=stApp]');"
    " return app && app.dataset.testScriptState === 'notRunning'"
    " && app.dataset.testConnectionState === 'CONNECTED'"
    " && !document.querySelector('[data-stale=true]'); }"
)
READ = """(panel) => [...document.querySelectorAll(`[data-panel="${panel}"] [data-cell]`)].map(cell => ({
  row: Number(cell.dataset.row), col: Number(cell.dataset.col), state: cell.dataset.state,
  vector: cell.dataset.vector ?? null, value: 'value' in cell.dataset ? Number(cell.dataset.value) : null,
  text: cell.textContent }))"""


class Visit:
    def __init__(self, context, base: str) -> None:
        self.context, self.base, self.record = context, base, Record()
        self.page = context.new_page()
        self.page.set_default_timeout(15_000)
        self.record.watch(self.page)

    def open(self, path: str = "/", *, stage: bool = True, **settings) -> Visit:
        return self.go(address(self.base, path, **settings), stage=stage)

    def go(self, url: str, *, stage: bool = True) -> Visit:
        self.page.goto(url)
        if stage:
            self._stand()
        return self.quiet()

    def _stand(self) -> None:
        """Waits for the stage; where it does not come, says what stands there instead."""
        try:
            self.stage.wait_for()
        except Exception as error:
            shown = self.page.locator("[data-testid=stMain]").inner_text()[-1500:]
            raise AssertionError(f"no stage at {self.page.url}; {self.record.errors}; the page:\n{shown}") from error

    def quiet(self) -> Visit:
        """Waits until the script has run and nothing on the page is stale."""
        self.page.wait_for_timeout(80)  # a change needs a moment to reach the server
        self.page.wait_for_function(QUIET)
        return self

    # the stage

    @property
    def stage(self):
        return self.page.locator(STAGE)

    @property
    def step(self) -> int:
        return int(self.stage.get_attribute("data-step"))

    @property
    def steps(self) -> int:
        return int(self.stage.get_attribute("data-steps"))

    def at(self, step: int) -> Visit:
        """Waits until the stage shows this step (0-based)."""
        self.page.wait_for_selector(f'{STAGE}[data-step="{step}"]')
        return self

    def press(self, *keys: str) -> Visit:
        self.stage.focus()
        for key in keys:
            self.page.keyboard.press(key)
        return self

    def act(self, action: str) -> Visit:
        self.page.locator(f"{STAGE} [data-action={action}]").click()
        return self

    def panel(self, name: str):
        return self.page.locator(f'[data-panel="{name}"]')

    def cell(self, panel: str, row: int, col: int, vector: str | None = None):
        kind = f'[data-vector="{vector}"]' if vector else ""
        return self.page.locator(f'[data-panel="{panel}"] [data-cell][data-row="{row}"][data-col="{col}"]{kind}')

    def cells(self, panel: str) -> list[dict]:
        return self.page.evaluate(READ, panel)

    def grid(self, panel: str, field: str = "value", vector: str | None = None) -> dict[tuple[int, int], object]:
        return {(c["row"], c["col"]): c[field] for c in self.cells(panel) if vector in (None, c["vector"])}

    def ledger(self) -> dict[str, float]:
        read = "() => Object.fromEntries([...document.querySelectorAll('[data-ledger]')]"
        read += ".map(e => [e.dataset.ledger, Number(e.dataset.value)]))"
        return self.page.evaluate(read)

    def tokens(self) -> list[str]:
        """The labels in the token strip."""
        return [cell["text"] for cell in self.cells("tokens")]

    # the page around it

    @property
    def link(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.page.url).query, keep_blank_values=True))

    def control(self, key: str):
        """The container of the widget whose key is `key`, or begins with it and an underscore or dash."""
        return self.page.locator(f'[class~="st-key-{key}"], [class*="st-key-{key}_"], [class*="st-key-{key}-"]').first

    def alerts(self) -> str:
        """All that the page says in boxes and captions, as one text."""
        found = self.page.locator("[data-testid=stAlert], [data-testid=stCaptionContainer], [data-testid=stText]")
        return "\n".join(found.all_inner_texts())

    def type_text(self, text: str) -> Visit:
        box = self.control("text").locator("input, textarea").first
        box.fill(text)
        box.press("Enter" if box.evaluate("e => e.tagName") == "INPUT" else "Control+Enter")
        return self.quiet()
