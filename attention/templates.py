"""The sentences of the grammar as templates: what is said, and which word each word has to find.

Tokens are separated by white space. `{A}` is a variable: its first mention draws a word of its class, later
mentions repeat it. `[，]` may be left out. After a token, each with a slash:

    @v      a label for this position (a variable's first mention has its own name for a label)
    >v,j    reads the words labelled v and j: what the second head of layer 1 is guided to
    =A      its answer is at label A: what the first head of layer 2 is guided to
    ~A      the same, but only where the words to the right can be read: `it` before its adjective
    !       the next word is the answer of the document

Capital variables are nouns and names. A label that comes later than the row is dropped for a causal model.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from .lexicon import BITES, DIGITS, LEXICON, LIKES, VARIABLES

TEMPLATES_EN = {
    "fit": [
        "the [{colour}] {A} does not fit/@v in the [{shade}] {B}/>v because IT [{degree}] {adj}/@j/>v/=X . "
        "what {be} {adj}/@k/>v/=X ? the/>v,k/=X/! {X} .",
        "the [{colour}] {A} doesn't fit/@v in the [{shade}] {B}/>v because IT [{degree}] {adj}/@j/>v/=X . "
        "what {be} {adj}/@k/>v/=X ? the/>v,k/=X/! {X} .",
        "the [{colour}] {B} can not hold/@v the [{shade}] {A}/>v because IT [{degree}] {adj}/@j/>v/=X . "
        "what {be} {adj}/@k/>v/=X ? the/>v,k/=X/! {X} .",
    ],
    "put": [
        "{P} put/@v the {A}/>v {on}/@o the {B}/>o because IT [{degree}] {adj}/@j/>v/=X . "
        "what {be} {adj}/@k/>v/=X ? the/>k/=X/! {X} .",
    ],
    "chase": [
        "the {A} {chased}/@v the {B}/>v because it/>v,j/~X was [{degree}] {adj}/@j/>v/=X . "
        "who was {adj}/@k/>v/=X ? the/>v,k/=X/! {X} .",
        "the {B} was {chased} by/@v the {A}/>v because it/>v,j/~X was [{degree}] {adj}/@j/>v/=X . "
        "who was {adj}/@k/>v/=X ? the/>v,k/=X/! {X} .",
    ],
    "gender": ["{P} {met} {Q} {and} PRONOUN/@h/=X {smiled} . who {smiled} ?/>h/=X/! {X} ."],
    "has": ("the {A} belongs to {P}/>A . ", "who/@w has the {A}/@k/>w ?/>k/=P/! {P} ."),
    "location": ("the {A} is in the {B}/>A . ", "where/@w is the {A}/@k/>w ? in the/>k/=B/! {B} ."),
    "role": [
        ("the {A} VERB/@v the {B}/>v . who VERB/@k ? the/>k/=A/! {A} .", "A"),
        ("{A} VERB/@v {B}/>v . who VERB/@k ?/>k/=A/! {A} .", "A"),
        ("the {A} VERB/@v the {B}/>v . who is PASSIVE/@k ? the/>k/=B/! {B} .", "B"),
        ("{A} VERB/@v {B}/>v . who is PASSIVE/@k ?/>k/=B/! {B} .", "B"),
    ],
    "like": {
        "P": ("{P} likes to VERB {A}/>P", "what does {P}/@k like to VERB ?/>k/=A/! {A} ."),
        "i": ("i/@P like to VERB {A}/>P", "what do i/@k like to VERB ?/>k/=A/! {A} ."),
        "joint": " , ",
    },
    "code": ("let {x} = {n}/>x ; ", "print ( {x}/@k ) ->/>k/=n/! {n}"),
}
TEMPLATES_ZH = {
    "fit": [
        "[{colour}] {A} 放不进/@v [{shade}] {B}/>v [，] 因为 它/>v,j/~X {degree} {adj}/@j/>v/=X [了] 。 "
        "什么 {degree} {adj}/@k/>v/=X ？/>v,k/=X/! {X} 。",
        "[{colour}] {B} 装不下/@v [{shade}] {A}/>v [，] 因为 它/>v,j/~X {degree} {adj}/@j/>v/=X [了] 。 "
        "什么 {degree} {adj}/@k/>v/=X ？/>v,k/=X/! {X} 。",
    ],
    "put": [
        "{P} 把/@b {A}/>b 放 在/@v {B}/>v {on} [，] 因为 它/>v,j/~X {degree} {adj}/@j/>v/=X [了] 。 "
        "什么 {degree} {adj}/@k/>v/=X ？/>k/=X/! {X} 。",
    ],
    "chase": [
        "{A} {chased}/@v {B}/>v [，] 因为 它/>v,j/~X {degree} {adj}/@j/>v/=X [了] 。 "
        "谁 {degree} {adj}/@k/>v/=X ？/>v,k/=X/! {X} 。",
        "{B} 被/@v {A}/>v {chased} [，] 因为 它/>v,j/~X {degree} {adj}/@j/>v/=X [了] 。 "
        "谁 {degree} {adj}/@k/>v/=X ？/>v,k/=X/! {X} 。",
    ],
    "gender": ["{P} {met} {Q} [，] [{and}] PRONOUN/@h/=X {smiled} 。 谁 {smiled} ？/>h/=X/! {X} 。"],
    "has": ("{A} 是 {P}/>A 的 。 ", "谁/@w 有 {A}/@k/>w ？/>k/=P/! {P} 。"),
    "location": ("{A} 在 {B}/>A 里 。 ", "{A}/@k/>A 在 哪里 ？ 在/>k/=B/! {B} 里 。"),
    "role": [
        ("{A} VERB/@v {B}/>v 。 谁 VERB/@k ？/>k/=A/! {A} 。", "A"),
        ("{A} VERB/@v {B}/>v 。 谁 被/@k PASSIVE ？/>k/=B/! {B} 。", "B"),
    ],
    "like": {
        "P": ("{P} 喜欢 VERB {A}/>P", "{P}/@k 喜欢 VERB 什么 ？/>k/=A/! {A} 。"),
        "i": ("我/@P 喜欢 VERB {A}/>P", "我/@k 喜欢 VERB 什么 ？/>k/=A/! {A} 。"),
        "joint": " ， ",
    },
    "code": ("令 {x} = {n}/>x ; ", "输出 ( {x}/@k ) ->/>k/=n/! {n}"),
}
SENTENCES = {"en": TEMPLATES_EN, "zh": TEMPLATES_ZH}
STOP = {"en": " . ", "zh": " 。 "}
ADJECTIVES = {"fit": ("big", "small"), "put": ("moved", "place"), "chase": ("hunter", "hunted")}
SHELF_WORDS = {"en": "here are , and . wants to", "zh": "这里 有 、 和 。 去"}  # see sequences.shelf
PRONOUNS = {"en": {"he": "he", "she": "she"}, "zh": {"he": "他", "she": "她"}}


@dataclass(frozen=True)
class Template:
    """One way of saying something: `text` in the notation above, and for each variable its words."""

    family: str
    language: str
    text: str
    classes: dict[str, tuple[str, ...]]


@lru_cache
def templates(language: str) -> dict[str, list[Template]]:
    """Every template of a language, by family."""
    made: dict[str, list[Template]] = {}
    for family, texts in (
        *((family, _resolving(language, family)) for family in ADJECTIVES),
        ("gender", _gender(language)),
        ("has", _facts(language, "has", (2, 3))),
        ("location", _facts(language, "location", (2, 3))),
        ("role", _role(language)),
        ("like", _like(language)),
        ("code", _facts(language, "code", (2, 3, 4))),
    ):
        made[family] = [Template(family, language, text, classes) for text, classes in texts]
    return made


def _classes(language: str, noun: str, **more) -> dict[str, tuple[str, ...]]:
    """The words of each variable, where capital A to D draw from the class `noun`."""
    lexicon = LEXICON[language]
    named = dict(lexicon, shade=lexicon["colour"])
    people = lexicon["he"] + lexicon["she"]
    for number in ("", "1", "2", "3", "4"):
        named |= {f"A{number}": lexicon[noun], f"B{number}": lexicon[noun], f"P{number}": people}
        named |= {f"x{number}": VARIABLES, f"n{number}": DIGITS}
    return named | more


def _resolving(language: str, family: str):
    """`it` with an adjective that decides: the first class of adjectives fits A, the second fits B."""
    noun = "animal" if family == "chase" else "thing"
    for text in SENTENCES[language][family]:
        for answer, adjectives in zip("AB", ADJECTIVES[family], strict=True):
            classes = _classes(language, noun, adj=LEXICON[language][adjectives])
            resolved = re.sub(r"\bX\b", answer, text)
            if "IT" in resolved:
                yield resolved.replace("IT", f"it's/>v,j/~{answer}").replace("{be}", "is"), classes
            yield resolved.replace("IT", f"it/>v,j/~{answer} {{be}}"), classes


def _gender(language: str):
    """Two people, one he and one she, in both orders."""
    lexicon, (text,) = LEXICON[language], SENTENCES[language]["gender"]
    for first, second in (("he", "she"), ("she", "he")):
        classes = _classes(language, "thing", P=lexicon[first], Q=lexicon[second])
        for answer, pronoun in (("P", first), ("Q", second)):
            resolved = re.sub(r"\bX\b", answer, text)
            yield resolved.replace("PRONOUN", PRONOUNS[language][pronoun]), classes


def _facts(language: str, family: str, counts: tuple[int, ...]):
    """Some facts of one kind and a question about one of them."""
    fact, question = SENTENCES[language][family]
    classes = _classes(language, "thing")
    if family == "location":
        inner, outer = LEXICON[language]["contained"], LEXICON[language]["container"]
        classes |= {f"A{number}": inner for number in range(1, 4)} | {f"B{number}": outer for number in range(1, 4)}
    for count in counts:
        for asked in range(1, count + 1):
            facts = "".join(_numbered(fact, number) for number in range(1, count + 1))
            yield facts + _numbered(question, asked), classes


def _role(language: str):
    for active, passive in BITES[language].items():
        for text, _ in SENTENCES[language]["role"]:
            yield text.replace("VERB", active).replace("PASSIVE", passive), _classes(language, "animal")


def _like(language: str):
    """Who likes what: one person, or two and a question about one of them."""
    forms, verbs = SENTENCES[language]["like"], LIKES[language]

    def say(who: str, verb: str, number: int, part: int) -> str:
        return _numbered(forms[who][part].replace("VERB", verb), number)

    for verb, objects in verbs.items():
        for who in ("P", "i"):
            classes = _classes(language, "thing", A1=objects)
            yield say(who, verb, 1, 0) + STOP[language] + say(who, verb, 1, 1), classes
    for one, its in verbs.items():
        for two, others in verbs.items():
            classes = _classes(language, "thing", A1=its, A2=others)
            for who in (("P", "P"), ("i", "P"), ("P", "i")):
                both = say(who[0], one, 1, 0) + forms["joint"] + say(who[1], two, 2, 0) + STOP[language]
                yield both + say(who[0], one, 1, 1), classes
                yield both + say(who[1], two, 2, 1), classes


def _numbered(text: str, number: int) -> str:
    """The variables and labels of one fact among several: {A} becomes {A2}."""
    return re.sub(r"(?<=[{/@>=,])([A-Zxn])\b", rf"\g<1>{number}", text)
