from nagini_contracts.contracts import *


class Cell:
    def __init__(self, value: int) -> None:
        Ensures(Acc(self.value) and self.value == value)
        self.value = value  # type: int


def read(cell: Cell) -> int:
    return cell.value


def swap(one: Cell, other: Cell) -> None:
    Requires(Acc(one.value) and Acc(other.value))
    Ensures(Acc(one.value) and Acc(other.value))
    Ensures(one.value == Old(other.value) and other.value == Old(one.value))
    value = one.value
    one.value = other.value
    other.value = value


def alias(one: Cell, other: Cell) -> None:
    Requires(Acc(one.value) and Acc(other.value, 1 / 2))
    other.value = 3
