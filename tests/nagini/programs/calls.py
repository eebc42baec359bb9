from nagini_contracts.contracts import *


def positive(n: int) -> int:
    Requires(n > 3)
    Ensures(Result() > 0)
    return n


def caller(n: int) -> int:
    Requires(n > 1)
    first = positive(n + 3)
    return positive(n)


@Pure
def twice(n: int) -> int:
    Requires(n >= 0)
    Ensures(Result() >= n)
    return n + n


def uses(n: int) -> int:
    return twice(n)
