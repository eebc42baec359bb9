from nagini_contracts.contracts import *

from typing import Dict


def get(table: Dict[int, int], key: int) -> int:
    Requires(Acc(dict_pred(table)))
    return table[key]


def put(table: Dict[int, int], key: int) -> None:
    Requires(Acc(dict_pred(table)))
    Ensures(Acc(dict_pred(table)))
    Ensures(key in table)
    table[key] = 7
    Assert(table[key] == 8)
