from memman.judge.judge import tokens

VOCABULARY = {"[UNK]": 1, "un": 2, "##known": 3, "##kno": 4, "known": 5, ".": 6, "deja": 7, "-": 8, "東": 9}


def test_words_are_bert_s():
    """Case, accents and what cannot be seen go; marks and ideographs stand alone."""
    text = "Un  D\u00c9J\u00c0-un\t東東\x00\u200b"
    assert [(number, text[start:end]) for number, start, end in tokens(text, VOCABULARY, 9)] == [
        *((2, "Un"), (7, "D\u00c9J\u00c0"), (8, "-"), (2, "un"), (9, "東"), (9, "東"))
    ]


def test_a_word_is_spelled_or_unknown():
    """The longest pieces are taken; a word that cannot be spelled to its end is one unknown token."""
    assert [one[0] for one in tokens("Unknown known unkno. unkn", VOCABULARY, 9)] == [2, 3, 5, 2, 4, 6, 1]
    assert [one[0] for one in tokens("known " * 9, VOCABULARY, 4)] == [5] * 4
    assert [one[0] for one in tokens("known" * 30, VOCABULARY, 4)] == [1]
    assert tokens("", VOCABULARY, 4) == []
