from nagini_contracts.contracts import *

from typing import List


def positive(numbers: List[int]) -> None:
    Requires(Acc(list_pred(numbers)))
    Requires(Forall(int, lambda i: (Implies(0 <= i and i < len(numbers), numbers[i] > 0), [[numbers[i]]])))
    Requires(len(numbers) > 2)
    assert numbers[1] > 0
    assert numbers[1] > 1


def every(n: int) -> None:
    assert Forall(int, lambda i: Implies(i > n, i > n + 1))
