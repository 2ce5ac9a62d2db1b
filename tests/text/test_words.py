import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text import stemming, words
from langchain_memengine.text.words import MAX_WORD_CHARS, WordSplitter, exact_words

split = WordSplitter()
plain = WordSplitter("none")
any_text = st.text(st.characters())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He lives in London.", ["live", "london"]),
        ("london", ["london"]),
        ("Running, ran; RUNS!", ["run", "ran", "run"]),
        ("", []),
        (" \n\t…—!", []),
        ("Straße STRASSE", ["strass", "strass"]),
        ("ｆｕｌｌ ｗｉｄｔｈ", ["full", "width"]),
        ("co\u00adop\u200dera\ufefftion", ["cooper"]),
        ("İstanbul", ["istanbul"]),
        ("the user's car isn’t Anna's", ["user", "car", "anna"]),
        ("ma'am", ["maam"]),
        ("\ud800 left \x00 right", ["left", "right"]),
    ],
)
def test_prose_is_folded_stopped_and_stemmed(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("user_id", ["user_id", "user", "id"]),
        ("v1.2.3", ["v1.2.3", "v1", "2", "3"]),
        ("C", ["c"]),
        ("C++", ["c++", "c"]),
        ("C#", ["c#", "c"]),
        ("C++17", ["c++", "c", "17"]),
        ("issue#12", ["issu", "12"]),
        ("src/app/main.py", ["src/app/main.py", "main.py", "src", "app", "main", "py"]),
        ("C:\\tmp\\x.txt", ["c:\\tmp\\x.txt", "x.txt", "c", "tmp", "x", "txt"]),
        ("it is -5 °C", ["-5", "5", "c"]),
        ("−5", ["-5", "5"]),
        ("-5.25", ["-5.25", "5.25", "5", "25"]),
        ("3.14", ["3.14", "3", "14"]),
        ("3-5", ["3-5", "3", "5"]),
        ("1,000 and 1000", ["1000", "1000"]),
        ("2024-05-01", ["2024-05-01", "2024", "05", "01"]),
        ("09:30", ["09:30", "09", "30"]),
        (".NET", [".net", "net"]),
        ("_emphasis_ __init__", ["emphasi", "init"]),
        ("a@b.com", ["a@b.com", "b", "com"]),
        ("R&D", ["r&d", "r", "d"]),
        ("The end.", ["end"]),
        ("wait...what", ["wait"]),
    ],
)
def test_identifiers_stand_whole_before_their_parts(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName()", ["getusername", "get", "user", "name"]),
        (
            "self.parseHTTPReply2",
            ["self.parsehttpreply2", "self", "parsehttpreply2", "parse", "http", "reply2"],
        ),
        ("iPhone JavaScript eBay LangChain", ["iphone", "javascript", "ebay", "langchain"]),
        ("e-mail", ["email", "e", "mail"]),
        ("Wi‑Fi", ["wifi", "wi", "fi"]),
        ("over-the-top", ["overthetop", "over", "the", "top"]),
        ("May-3", ["may-3", "may", "3"]),
        ("tea 🎉🎉 ❤️ 👍🏽", ["tea", "🎉", "🎉", "❤", "👍"]),
        ("٢٠٢٤ and ๑๒๓ and १५", ["2024", "and", "123", "and", "15"]),
        ("שָׁלוֹם־בַּיִת", ["שלוםבית", "שלום", "בית"]),
    ],
)
def test_other_ways_to_write_a_word_find_it_too(text, expected):
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("低头思故乡", ["低头", "头思", "思故", "故乡", "低", "头", "思", "故", "乡"]),
        ("끝말잇기", ["끝말", "말잇", "잇기", "끝", "말", "잇", "기"]),
        ("しりとり", ["しり", "りと", "とり"]),
        ("ｼﾘﾄﾘ", ["シリ", "リト", "トリ"]),
        ("猫", ["猫"]),
        ("の", ["の"]),
        ("ไทย", ["ไท", "ทย"]),
        ("Python程序x", ["python", "程序", "程", "序", "x"]),
        ("\U00020000\U00020001", ["\U00020000\U00020001", "\U00020000", "\U00020001"]),
    ],
)
def test_scripts_without_spaces_become_pairs(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize(
    ("document", "query"),
    [
        ("低头思故乡", "故乡"),
        ("我的猫很可爱", "猫"),
        ("今日は成語しりとりをした", "しりとり"),
        ("끝말잇기", "말잇기"),
        ("Привет, мир", "привет"),
        ("Он купил книгу", "книги"),
        ("C++ templates", "c++"),
        ("the path src/app/main.py", "main.py"),
        ("हिन्दी भाषा", "हिन्दी"),
    ],
)
def test_a_query_finds_its_words_in_the_document(document, query):
    assert set(split.query(query)) <= set(split(document))


def test_a_query_of_a_run_asks_for_pairs_only():
    assert split.query("故乡 cats") == ["故乡", "cat"]
    assert split.query("乡") == ["乡"]
    assert not set(split.query("故乡")) & set(split("故事和乡村"))


def test_a_query_with_an_absent_run_keeps_the_present_one():
    assert set(split.query("故乡 火车")) & set(split("低头思故乡")) == {"故乡"}


def test_only_stop_words_are_kept():
    assert split("who is it") == ["who", "is", "it"]
    assert split.query("What is this?") == ["what", "is", "this"]


def test_combining_marks_stay_in_the_word():
    assert plain("हिन्दी") == ["हिन्दी"]
    assert plain("q\u0307x") == ["q\u0307x", "qx"]
    assert plain("e\u0301t") == ["ét", "et"]


WITH_AND_WITHOUT = [
    ("Zürich", "Zurich"),
    ("Zürich", "Zuerich"),
    ("café", "cafe"),
    ("Müller", "Muller"),
    ("Müller", "Mueller"),
    ("résumés", "resumes"),
    ("São Paulo", "Sao Paulo"),
    ("Kraków", "Krakow"),
    ("Łódź", "Lodz"),
    ("naïve", "naive"),
    ("Straße", "strasse"),
    ("ёлки", "елки"),
    ("Αθήνα", "ΑΘΗΝΑ"),
    ("Hà Nội", "ha noi"),
    ("đường", "duong"),
    ("ışık", "isik"),
    ("DİYARBAKIR", "Diyarbakır"),
    ("København", "Kobenhavn"),
    ("København", "Koebenhavn"),
    ("Århus", "Aarhus"),
    ("Ærø", "Aero"),
    ("smörgåsbord", "smorgasbord"),
    ("garçons", "garcons"),
    ("canción", "cancion"),
    ("año", "ano"),
    ("crème-brûlée", "cremebrulee"),
    ("Übergrößenträger", "uebergroessentraeger"),
    ("menü.txt", "menu.txt"),
    ("l'écoles", "ecoles"),
]


@pytest.mark.parametrize("language", ["english", "auto", "german", "none"])
@pytest.mark.parametrize(("marked", "bare"), WITH_AND_WITHOUT)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_diacritics_may_be_left_out_of_the_query_or_of_the_text(language, marked, bare, form):
    splitter = WordSplitter(language)
    marked = unicodedata.normalize(form, marked)
    assert set(splitter.query(bare)) & set(splitter(marked))
    assert set(splitter.query(marked)) & set(splitter(bare))


def test_a_word_stands_as_it_is_spelt_before_what_else_it_is_typed_as():
    assert split("Zürich is naïve") == ["zürich", "zurich", "zuerich", "naïv", "naiv"]
    assert split("café-bar.txt") == ["café-bar.txt", "cafe-bar.txt", "café", "cafe", "bar", "txt"]
    assert WordSplitter("german")("Müller, Mueller, Muller") == ["mull"] * 3


def test_no_stop_word_is_made_of_a_word():
    assert WordSplitter("french")("il est sûr de Nîmes") == ["sûr", "nîm", "nim"]
    assert WordSplitter("german")("für Müller") == ["mull"]


def test_exact_words_are_no_others():
    assert exact_words("The Café café cafe") == ["the", "café", "café", "cafe"]


def test_words_of_another_script_are_stemmed_in_its_language():
    assert split("книги книгой и") == ["книг", "книг"]
    assert WordSplitter("russian")("книги Running") == ["книг", "run"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wo wohnen die Nachbarn", ["wohn", "nachbarn"]),
        ("where do the neighbours live", ["neighbour", "live"]),
        ("où habitent les voisins", ["habitent", "voisin"]),
        ("dónde viven los vecinos", ["viv", "vecin"]),
    ],
)
def test_auto_takes_the_language_of_the_stop_words(text, expected):
    assert WordSplitter("auto")(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Der kleine Hund läuft zu den Gärten und bellt.",
        "Les enfants mangent des gâteaux délicieux dans la cuisine.",
        "Los niños comen pasteles deliciosos en la cocina.",
        "I bambini mangiano dolci deliziosi in cucina.",
        "As crianças comem bolos deliciosos na cozinha.",
    ],
)
def test_auto_finds_a_text_by_each_of_its_words_alone(text):
    auto = WordSplitter("auto")
    of_text = auto(text)
    telling = [word for word in text.rstrip(".").split() if len(word) > 4]
    assert len(telling) >= 4
    assert [word for word in telling if set(of_text).isdisjoint(auto.query(word))] == []


def test_auto_asks_for_no_form_of_a_word_twice():
    assert WordSplitter("auto").query("London London") == ["london"] * 2


def test_a_lone_character_between_kana_is_looked_up():
    assert split.query("猫が好き") == ["猫が", "が好", "好き", "猫", "好"]
    assert set(split.query("猫が好き")) & set(split("彼女は猫を飼っている")) == {"猫"}


def test_none_neither_stops_nor_stems():
    assert plain("The houses") == ["the", "houses"]


def test_unknown_language_names_the_choices():
    with pytest.raises(ConfigurationError, match=r"'klingon'.*english.*auto, none"):
        WordSplitter("klingon")


def test_fingerprint_follows_language_and_version(monkeypatch):
    assert split.fingerprint == WordSplitter("english").fingerprint
    assert split.fingerprint != WordSplitter("german").fingerprint
    before = split.fingerprint
    monkeypatch.setattr(words, "SPLITTER_VERSION", words.SPLITTER_VERSION + 1)
    assert split.fingerprint != before


def test_fingerprint_looks_packages_up_once_in_a_process(monkeypatch):
    asked = []
    version = stemming.version

    def noting(package):
        asked.append(package)
        return version(package)

    monkeypatch.setattr(stemming, "version", noting)
    stemming.stemmer_version.cache_clear()
    assert WordSplitter().fingerprint == WordSplitter().fingerprint
    assert asked == ["snowballstemmer", "PyStemmer"]


def test_endless_words_and_identifiers_are_bounded():
    assert plain("a" * 5_000) == ["a" * MAX_WORD_CHARS]
    assert plain("b." * 300) == ["b"] * 300


def test_remembered_tokens_are_bounded(monkeypatch):
    monkeypatch.setattr(words, "_MAX_REMEMBERED", 10)
    small = WordSplitter("none")
    numbers = " ".join(f"w{number}" for number in range(55))
    assert small(numbers) == numbers.split()
    assert len(small._lexicons["none"]) <= 10


@given(any_text)
def test_any_text_gives_non_empty_bounded_words(text):
    for splitter in (split, plain):
        assert all(0 < len(word) <= MAX_WORD_CHARS for word in splitter(text))
        assert set(splitter.query(text)) <= set(splitter(text))


@given(st.text(st.characters(codec="ascii")))
def test_ascii_and_unicode_patterns_agree(text):
    folded = text.lower()
    for astral in (False, True):
        general = words._unicode_token(astral=astral).findall(folded)
        assert general == words._ASCII_TOKEN.findall(folded)


@given(any_text)
def test_same_text_gives_the_same_words_in_any_order_of_calls(text):
    fresh = WordSplitter()
    fresh("something else " + text)
    assert fresh(text) == WordSplitter()(text)
