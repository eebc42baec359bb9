from nagini_contracts.contracts import *


def largest(a: int, b: int, c: int) -> int:
    Ensures(Result() >= a and Result() >= b and Result() >= c)
    if a > b:
        if a > c:
            return a
        return c
    if b > c:
        return b
    return b


def sign(a: int) -> int:
    Ensures(Implies(a > 0, Result() == 1))
    Ensures(Implies(a < 0, Result() == -1))
    if a > 0:
        return 1
    elif a < 0:
        return -1
    return 0


def ratio(a: int, b: int) -> int:
    if a > 0:
        return 1
    elif 10 // b > 1:
        return 2
    elif a < b:
        return 3
    else:
        assert a > b
        return 4
