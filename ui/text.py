"""The words of every page: one TOML file per language, looked up at each call.

Nothing is installed globally: a language is an argument, so one reader's choice cannot reach another's page.
"""

import functools
import re
import tomllib
from pathlib import Path

from attention.tokens import visible

LANGUAGES = {"zh": "中文", "en": "English"}
ASSETS = Path(__file__).parent.parent / "assets"


class Text:
    """The words of one language. `t("nav.about")` looks a sentence up; `t("share.long", n=3)` fills it in."""

    def __init__(self, lang: str, table: dict):
        self.lang, self.table = lang, table

    def __call__(self, key: str, **values) -> str:
        """The sentence at a dotted key. KeyError names the language and the key."""
        sentence = self.tree(key)
        return sentence.format(**values) if values else sentence

    def tree(self, key: str):
        """What stands at a dotted key, a sentence or a whole table."""
        found = self.table
        for part in key.split("."):
            if not isinstance(found, dict) or part not in found:
                raise KeyError(f"assets/text/{self.lang}.toml has no {key}")
            found = found[part]
        return found

    def markdown(self, key: str, **values) -> str:
        """As calling it, for a markdown widget: text among the values, or lists of it, is shown literally."""
        return self(key, **{name: _literal(value) for name, value in values.items()})


def load(lang: str) -> Text:
    """The words of "en" or "zh"; a file that changed on disk is read again."""
    file = ASSETS / "text" / f"{lang}.toml"
    return _read(lang, file, file.stat().st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _read(lang: str, file: Path, _changed: int) -> Text:
    return Text(lang, tomllib.loads(file.read_text(encoding="utf-8")))


def lesson(lang: str, name: str) -> str:
    """The prose of a page, markdown."""
    return (ASSETS / "lessons" / lang / f"{name}.md").read_text(encoding="utf-8")


def _literal(value):
    if isinstance(value, (list, tuple)):
        return " ".join(map(plain, value))
    return plain(value) if isinstance(value, str) else value


def plain(text: str, longest: int = 80) -> str:
    """A reader's text as a markdown code span: no markup, formula, emoji code or colour code in it works.

    Invisible characters get their visible marks; past `longest` characters an ellipsis stands.
    """
    shown = visible(text if len(text) <= longest else text[:longest] + "…")
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence} {shown} {fence}" if shown else "` `"
