from nagini_contracts.contracts import *


class Account:
    def __init__(self) -> None:
        Ensures(Acc(self.balance) and self.balance == 0)
        self.balance = 0  # type: int

    def deposit(self, amount: int) -> None:
        Requires(Acc(self.balance) and amount >= 0)
        Ensures(Acc(self.balance) and self.balance == Old(self.balance) + amount)
        self.balance += amount

    def withdraw(self, amount: int) -> None:
        Requires(Acc(self.balance) and amount >= 0)
        Ensures(Acc(self.balance) and self.balance >= 0)
        self.balance -= amount


def use(account: Account) -> None:
    Requires(Acc(account.balance))
    account.deposit(-1)
