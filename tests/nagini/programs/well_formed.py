from nagini_contracts.contracts import *


class Cell:
    def __init__(self) -> None:
        Ensures(Acc(self.value))
        self.value = 0  # type: int


def unframed(cell: Cell) -> None:
    Requires(cell.value > 0)


def promised(cell: Cell) -> None:
    Requires(Acc(cell.value))
    Ensures(cell.value == Old(cell.value))


@Pure
def reads(cell: Cell) -> int:
    return cell.value
