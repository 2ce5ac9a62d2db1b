"""Hashes of texts: the same in every store and release."""

from langchain_memengine.text.digests import bounded, digest

# printf 'tea' | sha256sum, and printf 'tea\0milk' | sha256sum
TEA = "a9f74d1ec36ebdeb2da3f6e5868090cd2a2d20b3dcca7b62f60304b1d3d9ef42"
TEA_AND_MILK = "aa3664e9fd2286eff60bae4a8395f6eb35953493cc8892bc7823cdfccaf729e7"


def test_a_text_has_the_hash_that_other_programs_give_its_utf_8():
    assert digest("tea") == TEA
    assert digest("tea", "milk") == TEA_AND_MILK


def test_where_a_part_ends_matters():
    assert digest("te", "a") != digest("tea")
    assert digest("a", "") != digest("a")


def test_a_lone_surrogate_is_no_error_and_not_what_replaces_it():
    assert digest("\ud800") != digest("\ufffd")


def test_long_names_are_cut_and_stay_apart():
    assert bounded("abc", 3) == "abc"
    long = "x" * 50
    assert bounded(long, 40) == f"{'x' * 7}~{digest(long)[:32]}"
    assert bounded(long + "y", 40) != bounded(long + "z", 40)
