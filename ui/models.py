"""What the pages say about a trained model: whether it can be used, its heads and their jobs, its ranks."""

from attention.lexicon import END, SLOTS
from attention.tokens import visible
from attention.trained import TrainedModel, WeightsError, load

GROUPS = {"trained": "decoder", "unguided": "decoder", "encoder": "encoder", "onelayer": "onelayer", "random": "random"}


def usable(source: str) -> TrainedModel | None:
    """The model of a source; None of random weights, and where its file cannot be used."""
    if source not in GROUPS or source == "random":
        return None
    try:
        return load(source)
    except WeightsError:
        return None


def group(source: str) -> str:
    """Whose example sentences suit a source: "decoder", "encoder", "onelayer" or, without weights, "random"."""
    return GROUPS[source] if usable(source) else "random"


def heads(model: TrainedModel) -> list[str]:
    """Every head, spelled as layer.head."""
    return [f"{layer}.{head}" for layer in range(1, len(model.blocks) + 1) for head in range(1, model.heads + 1)]


def job(t, model: TrainedModel | None, layer: int, head: int) -> str | None:
    """What a head, counted from 1, was guided to, in the reader's language; None where it was left to itself."""
    name = None if model is None else model.jobs.get((layer - 1, head - 1))
    return name if name is None else t.tree("jobs").get(name.replace(" ", "_"), name)


def head_place(t, place: str) -> str:
    """A head, spelled as layer.head, by its place."""
    layer, head = place.split(".")
    return t("heads.place", layer=layer, head=head)


def head_job(t, model: TrainedModel, place: str) -> str:
    """What a head does, as far as anybody told it."""
    guided = job(t, model, *map(int, place.split(".")))
    return t("heads.free") if guided is None else t("heads.guided", job=guided)


def head_label(t, model: TrainedModel, place: str) -> str:
    """A head by its place, and its job where it was guided to one."""
    guided = job(t, model, *map(int, place.split(".")))
    label = head_place(t, place)
    return label if guided is None else t("heads.label", place=label, job=head_job(t, model, place))


def rank_accuracies(model: TrainedModel, lang: str) -> dict[int, float]:
    """Measured accuracy by rank, 0..1, in one language, as the evaluation wrote it into the file: who is meant, where
    that was measured, else the mean of all families. Empty where nothing was."""
    return {int(rank): _share(found[lang]) for rank, found in model.figures.get("rank", {}).items() if lang in found}


def without(model: TrainedModel, place: str, lang: str) -> dict[str, float]:
    """Measured accuracy with one head, spelled as layer.head, at zero: by what is asked. Empty where nothing was."""
    layer, head = (int(part) - 1 for part in place.split("."))
    return model.figures.get("without", {}).get(f"{layer}.{head}", {}).get(lang, {})


def _share(found: float | dict[str, float]) -> float:
    if not isinstance(found, dict):
        return found
    return found.get("antecedent", sum(found.values()) / len(found))


def word(t, label: str) -> str:
    """A word of the vocabulary as a label; those that nobody can type by their meaning."""
    if label in SLOTS:
        return t("heads.slot", n=SLOTS.index(label) + 1)
    return t("heads.end") if label == END else visible(label)
