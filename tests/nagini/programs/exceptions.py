from nagini_contracts.contracts import *


class Failed(Exception):
    pass


def risky(n: int) -> int:
    Ensures(Result() == n)
    Exsures(Failed, n < 0)
    if n < 0:
        raise Failed()
    return n


def careless(n: int) -> int:
    return risky(n)


def careful(n: int) -> int:
    Ensures(Result() >= 0)
    try:
        return risky(n)
    except Failed:
        return n
