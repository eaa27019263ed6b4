"""Words, characters and labels, on what people have typed."""

import pytest

from attention import Settings
from attention.tokens import characters, visible, words

FAMILY, THUMB, CAFE = "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "cafe\u0301"

WORDS = {
    "the cat sat on the mat": "the|cat|sat|on|the|mat",
    "The trophy did not fit in the suitcase because it was too large.": (
        "The|trophy|did|not|fit|in|the|suitcase|because|it|was|too|large|."
    ),
    "小明 把 书 放 在 桌子 上 ， 因为 它 很 重": "小明|把|书|放|在|桌子|上|，|因为|它|很|重",
    "我 喜欢 吃 苹果": "我|喜欢|吃|苹果",
    "我喜欢吃苹果": "我|喜|欢|吃|苹|果",
    "看一看": "看|一|看",
    "the cat saw the cat": "the|cat|saw|the|cat",
    "<pad> <pad> <pad> <pad>": "<pad>|<pad>|<pad>|<pad>",
    "<s> a<b </s> <b>x</b> &amp; <br>": "<s>|a<b|</s>|<b>x</b>|&amp|;|<br>",
    "<img src=x onerror=alert(1)>": "<img|src=x|onerror=alert(1)>",
    "**x** $a$ [l](javascript:1)": "**x**|$a$|[l](javascript:1|)",
    "1 2 10": "1|2|10",
    "2024-01-01 2024-01-02": "2024-01-01|2024-01-02",
    "didn't he? (No!) 3.14, a.b.": "didn't|he|?|(|No|!|)|3.14|,|a.b|.",
    'He said: "wait..."': 'He|said|:|"|wait|.|.|.|"',
    "\u201cstop\u201d; x…": "\u201c|stop|\u201d|;|x|…",
    "don\u2019t": "don\u2019t",
    "...": ".|.|.",
    "a\nb\tc  d\u3000e\u00a0f": "a|b|c|d|e|f",
    "a\u200bb": "a\u200bb",
    "我": "我",
    "Hi": "Hi",
    FAMILY: FAMILY,
    f"{THUMB} {CAFE}": f"{THUMB}|{CAFE}",
    # Runs of letters end where other characters begin; punctuation that touches a run stands alone.
    "我有3只cat。": "我|有|3|只|cat|。",
    "他说：“好！”": "他|说|：|“|好|！|”",
    "你好,世界": "你|好|,|世|界",
    "共3.5元": "共|3.5|元",
    "版本3.,好": "版|本|3|.|,|好",
    "「猫」は《本》—を…": "「|猫|」|は|《|本|》|—|を|…",
    "データ・セット": "デ|ー|タ|・|セ|ッ|ト",
    "佐々木": "佐|々|木",
    "か\u3099く": "か\u3099|く",
    "ㄅㄆ한국": "ㄅ|ㄆ|한|국",
    # White space between two letters anywhere keeps every run whole; beside punctuation it says nothing.
    "你好， 世界": "你|好|，|世|界",
    "你好 ， 世界": "你|好|，|世|界",
    "hello 世界": "hello|世|界",
    "小明 把书,放下 了": "小明|把书|,|放下|了",
    "小明\n把书": "小明|把书",
    "小明\u3000把书": "小明|把书",
    "나는 학교에 간다": "나는|학교에|간다",
    "小明 把 3只cat": "小明|把|3|只|cat",
}


@pytest.mark.parametrize("text", WORDS)
def test_words(text):
    assert "|".join(words(text)) == WORDS[text]
    assert Settings(text).tokens == words(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (FAMILY, [FAMILY]),
        (CAFE, ["c", "a", "f", "e\u0301"]),
        (THUMB, [THUMB]),
        ("a b", ["a", " ", "b"]),
        ("a  b\n", ["a", " ", " ", "b", "\n"]),
        ("看 a<b", ["看", " ", "a", "<", "b"]),
        ("\r\n", ["\r\n"]),
        ("\U0001f1e8\U0001f1f3\U0001f1eb\U0001f1f7", ["\U0001f1e8\U0001f1f3", "\U0001f1eb\U0001f1f7"]),
    ],
)
def test_characters(text, wanted):
    assert list(characters(text)) == wanted
    if text.strip():
        assert Settings(text, split="characters").tokens == tuple(wanted)


@pytest.mark.parametrize(
    ("token", "label"),
    [
        ("cat", "cat"),
        ("<b>x</b>", "<b>x</b>"),
        (" ", "␣"),
        ("\n", "⏎"),
        ("\t", "⇥"),
        ("\r\n", "⟨U+000D⟩⏎"),
        ("\u3000", "⟨U+3000⟩"),
        ("\u00a0", "⟨U+00A0⟩"),
        ("\u200b", "⟨U+200B⟩"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("\u202eabc", "⟨U+202E⟩abc"),
        ("\ufeffx", "⟨U+FEFF⟩x"),
        ("so\u00adft", "so⟨U+00AD⟩ft"),
        ("\x00", "⟨U+0000⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\u3164", "⟨U+3164⟩"),
        ("\u2800", "⟨U+2800⟩"),
        ("\u200d", "⟨U+200D⟩"),
        ("a\u200d", "a⟨U+200D⟩"),
        ("\ufe0f", "⟨U+FE0F⟩"),
        ("\u0301", "◌\u0301"),
        (FAMILY, FAMILY),
        (CAFE, CAFE),
        (THUMB, THUMB),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
        ("\U0001f3f4\U000e0067\U000e0062\U000e007f", "\U0001f3f4\U000e0067\U000e0062\U000e007f"),
    ],
)
def test_labels(token, label):
    assert visible(token) == label
