from nagini_contracts.contracts import *


def append(numbers: PSeq[int]) -> PSeq[int]:
    Requires(len(numbers) > 0)
    Ensures(len(Result()) == len(numbers) + 1)
    Ensures(Result()[0] == numbers[0])
    return numbers + PSeq(7)


def beyond(numbers: PSeq[int]) -> int:
    return numbers[3]


def members(numbers: PSet[int]) -> None:
    Requires(1 in numbers)
    assert 2 in numbers
