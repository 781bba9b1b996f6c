"""Words of a text without a download, in the format of `chainer.datasets.get_ptb_words` for the Penn Treebank."""

import re
from collections import Counter
from functools import cache
from pydoc_data.topics import topics  # the Python Language Reference (PSF licence)

import numpy as np

LENGTH, FREQUENT = 24_000, 800


@cache
def _words():
    text = " ".join(topics[name] for name in sorted(topics)).lower()
    found = re.findall(r"[a-z_]+|[.,:()]", text)[:LENGTH]
    frequent = [word for word, _ in Counter(found).most_common(FREQUENT)]
    numbers = {word: i for i, word in enumerate(["<unk>", *frequent])}
    return np.array([numbers.get(word, 0) for word in found], np.int32), numbers


def get_words():
    """Return the numbers of the words to train, validate and test with."""
    numbers, _ = _words()
    first, second = LENGTH * 8 // 10, LENGTH * 9 // 10
    return numbers[:first], numbers[first:second], numbers[second:]


def get_words_vocabulary():
    """Return the number of each word."""
    return dict(_words()[1])
