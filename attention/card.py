"""The model card, assets/model/README.md, from what was measured. Nothing in it is written by hand."""

from .batches import ANSWER, CLOSER, COPY, FIRST, JOBS, NEW, OPENER, SIDE
from .documents import HELD_OUT, MAX_TOKENS
from .figures import COUNT, IT_FAMILIES
from .grammar import FAMILIES, SLOTTED
from .lexicon import LANGUAGES
from .measure import GUIDED_TO
from .train import GUIDANCE
from .trained import FAMILY, NAMES, TrainedModel, path_of

_HEAD = """# The trained models

Written by `python -m attention eval`, which measures the files beside it; `make train` makes them from their seeds.
Layers and heads count from 1 here. Shares are 0 to 1. `en` English, `zh` Chinese.
"""

_LIMITS = f"""## Limits

* The models know a grammar of a few hundred words and nothing of the world: whatever noun stands in a place is
  treated alike, a table may lie on a book. They are there to be looked at, not to be asked.
* Positions end at {MAX_TOKENS} tokens. Words that the vocabulary lacks share 12 slots; with more than 12 in one text,
  some share one.
* A reader of what came before cannot know at `it` or 它 what a later adjective will decide: that row is the same in
  both twins. The adjective's row and the answer's row know. Only he, she, 他 and 她 resolve at once.
* Guided heads were shown the true links while they learned. That they lie on them says that they were guided; what
  they are good for is what the ablation says. Attention weight is not an explanation of an answer.
* "Outside the grammar" is a line drawn through one number, and texts near it fall on either side.
"""


def card(models: dict[str, TrainedModel], found: dict[str, dict], family: list[dict], gates: str) -> str:
    """The whole text. `found` are the figures of each source, `family` the rows of the one-layer family."""
    parts = [
        _HEAD,
        _files(models),
        "## Gates\n\n" + gates + "\n",
        _data(),
        _decoders(models, found),
        _encoder(found["encoder"]),
        _one_layer(found["onelayer"]),
        _family(family),
        _ranks(found),
        _surprise(found),
        _LIMITS,
    ]
    return "\n".join(parts)


def _files(models: dict[str, TrainedModel]) -> str:
    rows = []
    for source, model in models.items():
        sizes = f"{len(model.blocks)} × {model.heads}, d_model {model.d_model}, d_k {model.d_k}, d_v {model.d_v}"
        guided = "guided" if model.guided else "not guided"
        size = path_of(NAMES[source]).stat().st_size
        file = f"`{NAMES[source]}.safetensors`"
        rows.append([file, f"`{source}`", model.kind, guided, sizes, f"{model.parameters:,}", f"{size / 1e6:.2f} MB"])
        rows[-1] += [str(model.steps), str(model.seed)]
    size = path_of(FAMILY).stat().st_size / 1e6
    rows.append([f"`{FAMILY}.safetensors`", "", "decoder", "not guided", "1 × 1, twelve", "", f"{size:.2f} MB", "", ""])
    head = ["file", "source", "kind", "", "layers × heads", "numbers", "size", "steps", "seed"]
    words = len(models["trained"].vocabulary.words)
    return (
        "## Files\n\n"
        + _table(head, rows)
        + f"\n\n`vocabulary.json`: {words} words of both languages, marks, 12 slots for "
        "unknown words, a mask, the end of a document.\n\n"
        "Pre-norm; learned positions; no biases on q, k, v and o; GELU (exact) MLP, twice as wide, none in the "
        "one-layer models; the embedding is also the output. q and k of a file stand in the order of their weight in "
        "the scores (SVD of W_Q W_Kᵀ weighted by the covariance of the rows): the first r are the best of rank r.\n"
    )


def _data() -> str:
    return f"""## Data

Documents of a grammar written for this project (`attention/grammar.py`), in English and Chinese:
{", ".join(FAMILIES)}. Each ends in a tail whose answer is decided.
{HELD_OUT} of 256 ordered pairs of nouns (for a repeat its opening pair, for brackets the first eight marks, for code
variable and value) are held out by hash: training never sees them, and every figure here is measured on documents
with such a pair, {COUNT} of each family and language. In {SLOTTED:.0%} of the training documents some nouns are slots.

Loss: next token, with weight {FIRST} on first mentions ({NEW:g} where one has to differ from an earlier one),
{ANSWER:g} on answers, {CLOSER} on closing brackets; guided models add {GUIDANCE} times the mean of
−log A[row, true link] of each head with a job. Two heads have side jobs, which count {SIDE["decoder"]} in the
decoder. The bracket head ({_head(OPENER)}) reads, before a new noun, those that are taken, and rests on itself where
head {_head(COPY)} has something to find, or it would become that head's spare. Head {_head(COPY)} reads, where a
question names a noun, those that were said. The encoder is asked for masked words, most of all for answers.
"""


def _decoders(models: dict[str, TrainedModel], found: dict[str, dict]) -> str:
    jobs = [[_head(place), job] for place, job in JOBS["decoder"].items()]
    names = ("trained", "unguided")
    accuracy = [
        [name, *(_share(found[source]["accuracy"][language][name]) for source in names for language in LANGUAGES)]
        for name in FAMILIES
    ]
    links = [
        [
            kind,
            _head(place),
            *(_weight(found[source]["links"][lang][kind], place) for source in names for lang in LANGUAGES),
        ]
        for kind, place in GUIDED_TO.items()
    ]
    more = [
        [label, *(_share(found[source][name][language]) for source in names for language in LANGUAGES)]
        for label, name in (("unknown nouns, antecedent", "unknown"), ("continuations recognised", "recognised"))
    ]
    head = ["", *(f"{source}, {language}" for source in names for language in LANGUAGES)]
    return "\n".join(
        [
            "## Decoders\n\nThe guided heads of `trained`:\n",
            _table(["layer.head", "job"], jobs),
            "\nRight answers (of closing brackets: the likeliest of those):\n",
            _table(head, accuracy + more),
            "\nMean weight on the true link, in the guided head or, named in brackets, another that has more. "
            "`unguided` learned the same documents with no such hint, and its heads are free to do anything:\n",
            _table(["", "guided", *head[1:]], links),
            "\nRight answers with one head set to zero:\n",
            *(_without(source, found[source]) for source in names),
        ]
    )


def _weight(heads: dict[str, float], place: tuple[int, int]) -> str:
    """The weight in the head that was guided, and the head with the most weight where that is another."""
    best = max(heads, key=heads.get)
    mine = f"{place[0]}.{place[1]}"
    return _share(heads[mine]) if best == mine else f"{_share(heads[best])} ({_head(tuple(map(int, best.split('.'))))})"


def _without(source: str, found: dict) -> str:
    groups = list(found["rank"][max(found["rank"], key=int)]["en"])
    head = [f"{source}, without", *(f"{group}, {language}" for group in groups for language in LANGUAGES)]
    rows = [
        [_head(tuple(map(int, place.split(".")))), *(_share(by[lang][group]) for group in groups for lang in LANGUAGES)]
        for place, by in found["without"].items()
    ]
    return _table(head, rows) + "\n"


def _encoder(found: dict) -> str:
    jobs = [[_head(place), job] for place, job in JOBS["encoder"].items()]
    filled = [[name, *(_share(found["filled"][language][name]) for language in LANGUAGES)] for name in FAMILIES]
    it = [
        [family, *(_share(weight) for language in LANGUAGES for weight in found["it"][language][family])]
        for family in IT_FAMILIES
    ]
    head = ["", *(f"{language}{member}" for language in LANGUAGES for member in ("", ", twin"))]
    return "\n".join(
        [
            "## Encoder\n\nReads everything, fills masked words in; guided:\n",
            _table(["layer.head", "job"], jobs),
            "\nRight words where the grammar decides them, one masked at a time:\n",
            _table(["", *LANGUAGES], filled),
            f"\nMean weight of the row of it / 它 on its antecedent in head {_head(COPY)}, in sentences without "
            "their question and in their twins with the other adjective (too large / too small, 重 / 平):\n",
            _table(head, it),
            "",
        ]
    )


def _one_layer(found: dict) -> str:
    rows = [
        [name, *(f"{found[name][language]:.3f}" for language in LANGUAGES)] for name in ("accuracy", "link", "entropy")
    ]
    pairs = {pair: weight for language in LANGUAGES for pair, weight in found["pairs"][language].items()}
    best = ", ".join(f"{pair} {weight:.2f}" for pair, weight in pairs.items())
    return (
        "## One layer, one head\n\nNot guided, no MLP. At the row of the verb: is the object right, the mean weight "
        "on it, and the entropy of the row in nats.\n\n"
        + _table(["", *LANGUAGES], rows)
        + f"\n\nMean weights, verb→object: {best}.\n"
    )


def _family(rows: list[dict]) -> str:
    columns = {
        "accuracy": "accuracy",
        "accuracy, scale switched": "switched",
        "entropy": "entropy",
        "weight on the object": "link",
        **{
            f"{label}, {when}": f"{name}, {when}"
            for when in ("start", "trained")
            for label, name in (("softmax Jacobian", "jacobian"), ("∂L/∂scores", "scores"), ("∂L/∂W_Q", "w_q"))
        },
    }
    body = [
        [str(row["d_k"]), "on" if row["scaled"] else "off", *(f"{row[name]:.3g}" for name in columns.values())]
        for row in rows
    ]
    return (
        "## The one-layer family\n\nThe same model and data for each d_k, trained with the scores divided by √d_k (on) "
        "and without (off), one seed each: as they came out. The softmax Jacobian is the Frobenius norm of "
        'diag(a) − aaᵀ at the verb\'s row; gradients are norms over one batch, before training ("start") and after. '
        '"Scale switched": the trained model with the other setting.\n\n'
        + _table(["d_k", "1/√d_k", *columns], body)
        + "\n"
    )


def _ranks(found: dict[str, dict]) -> str:
    rows = found["trained"]["rank"]
    groups = list(rows[max(rows, key=int)]["en"])
    head = ["rank", *(f"{group}, {language}" for group in groups for language in LANGUAGES)]
    body = [[rank, *(_share(by[lang][group]) for group in groups for lang in LANGUAGES)] for rank, by in rows.items()]
    return (
        "## Rank\n\nRight answers of `trained` with W_Q W_Kᵀ of every head cut down to a rank; the scale stays.\n\n"
        + _table(head, body)
        + "\n"
    )


def _surprise(found: dict[str, dict]) -> str:
    rows = []
    for source, by in found.items():
        nll = by["nll"]
        means = [f"{nll[side][language]:.2f}" for side in ("inside", "outside") for language in LANGUAGES]
        edges = [f"{nll[name]:.2f}" for name in ("inside, 97 of 100 below", "outside, 97 of 100 above")]
        rows.append([source, *means, *edges, f"{by['outside']:.2f}"])
    head = ["", *(f"{side}, {language}" for side in ("inside", "outside") for language in LANGUAGES)]
    head += ["97 of 100 inside below", "97 of 100 outside above", "the line"]
    return (
        "## Surprise\n\nMean −log p in nats a token: held-out documents of the grammar, and everyday prose that is "
        "not in it. Above the line the app says that a text is outside the grammar.\n\n" + _table(head, rows) + "\n"
    )


def _head(place: tuple[int, ...]) -> str:
    return f"{place[0] + 1}.{place[1] + 1}"


def _share(value: float) -> str:
    return f"{value:.3f}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
