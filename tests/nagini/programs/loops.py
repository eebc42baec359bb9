from nagini_contracts.contracts import *


def total(n: int) -> int:
    Requires(n >= 0)
    Ensures(Result() >= n)
    result = 0
    i = 0
    while i < n:
        Invariant(0 <= i and i <= n)
        Invariant(result >= i)
        i += 1
        result += i
    return result


def entry(n: int) -> None:
    i = n
    while i < 10:
        Invariant(i <= 10)
        i += 1


def kept(n: int) -> None:
    i = 0
    while i < n:
        Invariant(i == 0)
        i += 1
