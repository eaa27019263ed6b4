"""`python -m attention eval`: measures the shipped files, prints the gates, writes the model card.

A gate is a figure that a release has to reach, on held-out pairs, in each language.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .card import card
from .figures import GROUPS, IT_FAMILIES, family_figures, figures
from .grammar import REFERENCE
from .lexicon import LANGUAGES
from .measure import GUIDED_TO
from .trained import FAMILY, FOLDER, NAMES, WeightsError, load, load_family, path_of

CARD = FOLDER / "README.md"
MEGABYTES = 8.0  # of all weights files together
READ = {"en": "ride→horses", "zh": "骑→马"}
COPY_HEAD = "1.0"  # layer.head from 0: the antecedent's


@dataclass(frozen=True)
class Gate:
    """One figure against its bound. `most` turns it round: the figure has to stay below."""

    model: str
    figure: str
    language: str
    value: float
    bound: float
    most: bool = False

    @property
    def passed(self) -> bool:
        return self.value < self.bound if self.most else self.value >= self.bound


def main(out: Path = CARD) -> int:
    """0 where every gate holds, 1 where one fails, 2 where a file cannot be read."""
    try:
        models = {source: load(source) for source in NAMES}
        family = load_family()
    except WeightsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    found = {source: figures(model) for source, model in models.items()}
    gates = list(all_gates(found))
    out.write_text(card(models, found, family_figures(family), table(gates)), encoding="utf-8")
    print(table(gates))
    print(f"wrote {out}")
    failed = [gate for gate in gates if not gate.passed]
    print(f"{len(gates) - len(failed)} of {len(gates)} gates hold")
    return 1 if failed else 0


def all_gates(found: dict[str, dict]) -> Iterator[Gate]:
    """Every gate, from the figures of each source."""
    for language in LANGUAGES:
        yield from _decoder_gates(found["trained"], language)
        yield from _encoder_gates(found["encoder"], language)
        one = found["onelayer"]
        yield Gate("onelayer", "accuracy", language, one["accuracy"][language], 0.98)
        yield Gate("onelayer", f"weight {READ[language]}", language, one["pairs"][language][READ[language]], 0.5)
    yield Gate("all files", "megabytes", "", megabytes(), MEGABYTES, most=True)


def _decoder_gates(found: dict, language: str) -> Iterator[Gate]:
    for group, bound in (("antecedent", 0.99), ("brackets", 0.98), ("induction", 0.98), ("code", 0.98)):
        rows = [found["accuracy"][language][name] for name in GROUPS[group]]
        yield Gate("trained", f"accuracy, {group}", language, sum(rows) / len(rows), bound)
    for kind, (layer, head) in GUIDED_TO.items():
        weight = found["links"][language][kind][f"{layer}.{head}"]
        yield Gate("trained", f"attention, {kind}", language, weight, 0.95)
    zeroed = found["without"][COPY_HEAD][language]["antecedent"]
    yield Gate("trained", "antecedent, copy head zeroed", language, zeroed, 0.15, most=True)
    yield Gate("trained", "continuations recognised", language, found["recognised"][language], 0.98)


def _encoder_gates(found: dict, language: str) -> Iterator[Gate]:
    for family in IT_FAMILIES:
        for member, weight in zip(("", ", twin"), found["it"][language][family], strict=True):
            yield Gate("encoder", f"attention of it, {family}{member}", language, weight, 0.9)
    rows = found["filled"][language]
    yield Gate("encoder", "filled, antecedent", language, sum(rows[name] for name in REFERENCE) / len(REFERENCE), 0.95)
    for name in ("brackets", "induction", "code"):
        yield Gate("encoder", f"filled, {name}", language, rows[name], 0.95)


def megabytes() -> float:
    """Of all weights files, decimal."""
    return sum(path_of(file).stat().st_size for file in (*NAMES.values(), FAMILY)) / 1e6


def table(gates: list[Gate]) -> str:
    """The gates as a table in Markdown, as the terminal shows it and the card keeps it."""
    lines = ["| model | figure | language | measured | gate | |", "|---|---|---|---|---|---|"]
    for gate in gates:
        bound = f"{'<' if gate.most else '≥'} {gate.bound:g}"
        verdict = "holds" if gate.passed else "FAILS"
        lines.append(f"| {gate.model} | {gate.figure} | {gate.language} | {gate.value:.3f} | {bound} | {verdict} |")
    return "\n".join(lines)
