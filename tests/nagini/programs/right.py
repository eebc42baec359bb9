from nagini_contracts.contracts import *


class Counter:
    def __init__(self) -> None:
        Ensures(Acc(self.count) and self.count == 0)
        self.count = 0  # type: int

    @Pure
    def value(self) -> int:
        Requires(Acc(self.count, 1 / 2))
        Ensures(Result() == self.count)
        return self.count

    def step(self) -> None:
        Requires(Acc(self.count))
        Ensures(Acc(self.count) and self.value() == Old(self.value()) + 1)
        self.count += 1


def twice(counter: Counter) -> None:
    Requires(Acc(counter.count))
    Ensures(Acc(counter.count) and counter.count == Old(counter.count) + 2)
    counter.step()
    counter.step()
