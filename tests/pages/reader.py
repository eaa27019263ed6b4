"""One reader of the app through AppTest: a session with a link, its controls and what the page says."""

import json
from pathlib import Path

from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[2] / "app.py"


class Reader:
    """A session. The link is what the address bar holds as it begins: with random weights where it names no source
    (source=None: none at all), since most settings are theirs; `link` leaves that out again.

    inspector, take_away: whether these boxes are open (AppTest sends no expander's state by itself).
    """

    def __init__(self, page: str = "app.py", *, inspector: bool = False, take_away: bool = False, **link: str | None):
        self.silent = "source" not in link
        link = {"source": "random", **link}
        self.open = [name for name, is_open in (("inspector", inspector), ("take_away", take_away)) if is_open]
        self.app = AppTest.from_file(str(APP), default_timeout=60)
        for name, value in ((name, value) for name, value in link.items() if value is not None):
            self.app.query_params[name] = value
        if page != "app.py":
            self.app.switch_page(page)
        self.run()

    def run(self) -> "Reader":
        for name in self.open:
            self.app.session_state[name] = True
        self.app.run()
        return self

    def go(self, page: str) -> "Reader":
        self.app.switch_page(page)
        return self.run()

    def set(self, key: str, value, kind: str = "number_input") -> "Reader":
        getattr(self.app, kind)(key=key).set_value(value)
        return self.run()

    def choose(self, key: str, value: str) -> "Reader":
        next(group for group in self.app.get("button_group") if group.key == key).set_value(value)
        return self.run()

    def press(self, key: str) -> "Reader":
        self.app.button(key=key).click()
        return self.run()

    @property
    def mounted(self) -> dict:
        """What the one component of the page was sent: the stage, or the bare writer of the address bar."""
        (component,) = self.app.get("bidi_component")
        return json.loads(component.proto.json)

    @property
    def link(self) -> dict[str, str]:
        whole = self.mounted["link"]
        leave_out = self.silent and whole.get("source") == "random"
        return {name: value for name, value in whole.items() if not (leave_out and name == "source")}

    @property
    def scene(self) -> dict:
        return self.mounted["scene"]

    @property
    def said(self) -> str:
        """All boxes and captions of the page, as one text."""
        app = self.app
        return "\n".join(element.value for element in (*app.warning, *app.info, *app.error, *app.caption))

    def calm(self) -> "Reader":
        """No exception box, no error box."""
        assert [element.value for element in (*self.app.exception, *self.app.error)] == []
        return self
