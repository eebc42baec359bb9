from nagini_contracts.contracts import *


def greet(name: str) -> str:
    Ensures(len(Result()) == len(name) + 3)
    return 'Hi ' + name


def wrong(name: str) -> str:
    Ensures(Result() == 'Hi')
    return name
