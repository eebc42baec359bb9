from nagini_contracts.contracts import *

from typing import Optional


class Thing:
    def __init__(self) -> None:
        Ensures(Acc(self.weight))
        self.weight = 3  # type: int


def weigh(thing: Optional[Thing]) -> int:
    Requires(Implies(thing is not None, Acc(thing.weight)))
    if thing is None:
        return 0
    return thing.weight


def wrong(thing: Optional[Thing]) -> int:
    Requires(Implies(thing is None, False) or True)
    return weigh(thing)
