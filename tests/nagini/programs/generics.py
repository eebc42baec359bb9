from nagini_contracts.contracts import *

from typing import Generic, TypeVar

T = TypeVar('T')


class Box(Generic[T]):
    def __init__(self, content: T) -> None:
        Ensures(Acc(self.content) and self.content is content)
        self.content = content  # type: T

    def get(self) -> T:
        Requires(Acc(self.content, 1 / 3))
        Ensures(Acc(self.content, 1 / 3) and Result() is self.content)
        return self.content


def numbers() -> None:
    box = Box(3)
    assert box.get() == 3
    assert box.get() == 4
