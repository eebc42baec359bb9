from nagini_contracts.contracts import *


@Pure
def power(base: int, exponent: int) -> int:
    Requires(exponent >= 0)
    if exponent == 0:
        return 1
    return base * power(base, exponent - 1)


def check() -> None:
    assert power(2, 0) == 1
    assert power(2, 3) == 9
