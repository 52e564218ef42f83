from memman.embed.bert import ids, words


def test_words_are_bert_s():
    """Case, accents and what cannot be seen go; marks and ideographs stand alone."""
    assert words("Naïve  DÉJÀ-vu!\t東京\x00\u200b x_y=42") == (
        ["naive", "deja", "-", "vu", "!", "東", "京", "x", "_", "y", "=", "42"]
    )


def test_a_word_is_spelled_or_unknown():
    """The longest pieces are taken; a word that cannot be spelled to its end is one unknown token."""
    vocabulary = {"[UNK]": 1, "un": 2, "##known": 3, "##kno": 4, "known": 5, ".": 6}
    assert ids("Unknown known unkno. unkn", vocabulary, 9) == [2, 3, 5, 2, 4, 6, 1]
    assert ids("known " * 9, vocabulary, 4) == [5] * 4
    assert ids("known" * 30, vocabulary, 4) == [1]
    assert ids("", vocabulary, 4) == []
