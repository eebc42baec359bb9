from nagini_contracts.contracts import *


class Node:
    def __init__(self, value: int) -> None:
        Ensures(Acc(self.value) and self.value == value)
        self.value = value  # type: int


@Predicate
def node(n: Node) -> bool:
    return Acc(n.value) and n.value > 0


def opens(n: Node) -> int:
    Requires(node(n))
    Ensures(node(n))
    Ensures(Result() > 0)
    Unfold(node(n))
    value = n.value
    Fold(node(n))
    return value


def closes(n: Node) -> None:
    Requires(Acc(n.value))
    Ensures(node(n))
    Fold(node(n))


def lacks(n: Node) -> None:
    Unfold(node(n))
