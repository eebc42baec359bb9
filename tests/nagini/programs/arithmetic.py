from nagini_contracts.contracts import *


def division(a: int, b: int) -> int:
    return a // b


def half(a: int) -> int:
    Requires(a >= 0)
    Ensures(Result() <= a)
    return a // 2


def wrong(a: int) -> int:
    Ensures(Result() > a)
    return a * 2
