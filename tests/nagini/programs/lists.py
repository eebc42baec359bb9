from nagini_contracts.contracts import *

from typing import List


def first(numbers: List[int]) -> int:
    Requires(Acc(list_pred(numbers)))
    return numbers[0]


def last(numbers: List[int]) -> int:
    Requires(Acc(list_pred(numbers)) and len(numbers) > 0)
    Ensures(Acc(list_pred(numbers)))
    return numbers[len(numbers) - 1]


def grow(numbers: List[int]) -> None:
    Requires(Acc(list_pred(numbers)))
    Ensures(Acc(list_pred(numbers)) and len(numbers) == Old(len(numbers)) + 2)
    numbers.append(1)
