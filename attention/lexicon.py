"""The words of the grammar, English and Chinese. A class is a tuple of words; one of two languages each.

Things stand in every place where a thing can stand (a table may lie on a book), so that a model has to read
who did what to whom instead of guessing from the noun.
"""

SLOTS = tuple(f"<{number}>" for number in range(1, 13))  # the places of words that the lexicon lacks
END, MASK = "<end>", "<mask>"
LANGUAGES = ("en", "zh")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


DIGITS = _words("0 1 2 3 4 5 6 7 8 9")
VARIABLES = _words("x y z a b c n m")
BRACKETS = {
    "en": {"(": ")", "[": "]", "{": "}", "<": ">"},
    "zh": {"（": "）", "【": "】", "《": "》", "「": "」"},
}

EN = {
    "thing": _words(
        "trophy suitcase book table box bag key ball cup lamp chair piano vase hat coin letter basket drawer "
        "camera violin guitar phone bottle pot clock map shelf desk bed pillow blanket shoe coat plate knife "
        "toy"
    ),
    "container": _words("box bag suitcase drawer basket bottle pot cup vase hat"),
    "contained": _words("key book ball trophy camera coin letter phone map clock lamp toy knife violin guitar shoe"),
    "animal": _words("cat dog man horse rabbit fox bird wolf tiger boy girl woman lion bear pig goat monkey mouse"),
    "he": _words("tom jack peter john bob david paul"),
    "she": _words("mary anna lucy alice kate emma susan"),
    "big": _words("large big wide tall long thick"),
    "small": _words("small narrow short thin tiny"),
    "moved": _words("heavy light new fragile dirty"),
    "place": _words("flat empty stable strong clean"),
    "hunter": _words("hungry angry fast fierce"),
    "hunted": _words("scared slow weak tired"),
    "chased": _words("chased followed hunted watched"),
    "met": _words("met saw called helped thanked"),
    "smiled": _words("smiled laughed left waved cried"),
    "and": _words("and because when"),
    "degree": _words("too very so"),
    "colour": _words("brown red old green"),
    "on": _words("on in under"),
    "be": _words("is was"),
}
ZH = {
    "thing": _words(
        "奖杯 箱子 书 桌子 盒子 包 钥匙 球 杯子 灯 椅子 钢琴 花瓶 帽子 硬币 信 篮子 抽屉 相机 小提琴 吉他 手机 瓶子 锅 "
        "钟 地图 书架 柜子 床 枕头 毯子 鞋 大衣 盘子 刀 玩具"
    ),
    "container": _words("盒子 包 箱子 抽屉 篮子 瓶子 锅 杯子 花瓶 帽子"),
    "contained": _words("钥匙 书 球 奖杯 相机 硬币 信 手机 地图 钟 灯 玩具 刀 小提琴 吉他 鞋"),
    "animal": _words("猫 狗 人 马 兔子 狐狸 鸟 狼 老虎 男孩 女孩 女人 狮子 熊 猪 羊 猴子 老鼠"),
    "he": _words("小明 小刚 小强 小军 大伟 阿杰 志远"),
    "she": _words("小红 小丽 小美 小芳 阿兰 小梅 雅婷"),
    "big": _words("大 宽 高 长 厚"),
    "small": _words("小 窄 矮 短 薄"),
    "moved": _words("重 轻 新 脆弱 脏"),
    "place": _words("平 空 稳 结实 干净"),
    "hunter": _words("饿 生气 快 凶"),
    "hunted": _words("害怕 慢 弱 累"),
    "chased": _words("追 跟踪 追赶 盯着"),
    "met": _words("遇见 看见 叫 帮助 感谢"),
    "smiled": _words("笑了 走了 哭了 挥手 睡了"),
    "and": _words("然后 因为 所以"),
    "degree": _words("太 很 非常"),
    "colour": _words("棕色的 红色的 旧的 绿色的"),
    "on": _words("上 里 下"),
    "be": (),
}
LEXICON = {"en": EN, "zh": ZH}

# A verb, its passive form where a question asks for it, and who does it to whom: animals to animals.
BITES = {"en": {"bites": "bitten", "kicks": "kicked", "sees": "seen", "catches": "caught", "hits": "hit"}}
BITES["zh"] = {"咬": "咬", "踢": "踢", "看": "看", "抓": "抓", "打": "打"}

# What one likes to do, and with what. The one-layer model's verbs and their objects come from here too.
LIKES = {
    "en": {
        "eat": _words("apples noodles rice bread bananas soup"),
        "drink": _words("tea milk water juice coffee"),
        "read": _words("books novels poems stories newspapers"),
        "ride": _words("horses camels donkeys bicycles"),
        "wear": _words("hats coats gloves scarves"),
        "sing": _words("songs tunes ballads hymns"),
    },
    "zh": {
        "吃": _words("苹果 面条 米饭 面包 香蕉 汤"),
        "喝": _words("茶 牛奶 水 果汁 咖啡"),
        "读": _words("书 小说 诗 故事 报纸"),
        "骑": _words("马 骆驼 驴 自行车"),
        "穿": _words("裙子 大衣 毛衣 鞋"),
        "唱": _words("歌 小曲 民歌 儿歌"),
    },
}
