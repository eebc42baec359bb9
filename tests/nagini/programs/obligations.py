from nagini_contracts.contracts import *

from nagini_contracts.obligations import *


def ends(n: int) -> int:
    Requires(n >= 0)
    Requires(MustTerminate(n + 1))
    if n == 0:
        return 0
    return ends(n - 1)


def runs(n: int) -> int:
    Requires(n >= 0)
    Requires(MustTerminate(1))
    return runs(n)
