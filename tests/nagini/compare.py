"""Compares what the reference says of programs with what it says behind the agent.

usage: compare.py REFERENCE OURS

REFERENCE and OURS are results of viper.py or verify.py; beside each lies a file with the ending
`.times`, its standard error. Each difference is a line; the last lines are the table.
"""

import collections
import re
import sys

CONDITIONS = re.compile(r" under branch conditions:.*")
PLACE = re.compile(r"\(([^()]*@\d+\.\d+)(?:--[^()]*)?\)")


def results(path):
    """Returns the messages of each program."""
    messages = collections.defaultdict(list)
    with open(path) as lines:
        for line in lines:
            program, _, message = line.rstrip("\n").partition(": ")
            messages[program].append(message)
    return messages


def seconds(path):
    """Returns the time of each program."""
    with open(path + ".times") as lines:
        found = (re.fullmatch(r"(\S+): (\d+\.\d+) s\n", line) for line in lines)
        return {one[1]: float(one[2]) for one in found if one}


def key(message):
    """Returns the id and the place of a message."""
    place = PLACE.search(message)
    return message.split(": ")[0], place[1] if place else ""


def compare(reference, ours):
    """Prints what differs, and returns the counts."""
    counts = collections.Counter()
    for program in sorted(reference.keys() & ours.keys()):
        counts["programs"] += 1
        theirs, own = reference[program], ours[program]
        if (theirs == ["verified"]) != (own == ["verified"]):
            print(f"verdict: {program}: {theirs[0]} | {own[0]}")
            continue
        counts["same verdict"] += 1
        if own == ["verified"]:
            continue
        counts["failed in both"] += 1
        places = [sorted({key(one) for one in messages}) for messages in (theirs, own)]
        if places[0] == places[1]:
            counts["same ids and places"] += 1
        else:
            print(f"places: {program}: {places[0]} | {places[1]}")
        for message in own:
            same_place = [one for one in theirs if key(one) == key(message)]
            if not same_place:
                continue
            counts["messages at same places"] += 1
            words = CONDITIONS.sub("", message)
            if words not in [CONDITIONS.sub("", one) for one in same_place]:
                print(f"words: {program}: {same_place[0]} | {message}")
                continue
            counts["same words"] += 1
            if message in same_place:
                counts["same branch conditions"] += 1
    return counts


if __name__ == "__main__":
    table = compare(results(sys.argv[1]), results(sys.argv[2]))
    for name, count in table.items():
        print(f"{count:6} {name}")
    theirs, own = (seconds(path) for path in sys.argv[1:])
    both = theirs.keys() & own.keys()
    slower = [program for program in sorted(both) if own[program] > theirs[program]]
    for program in slower:
        print(f"slower: {program}: {own[program]:.2f} s | {theirs[program]:.2f} s")
    sums = [sum(times[program] for program in both) for times in (theirs, own)]
    print(f"{sums[0]:.1f} s the reference, {sums[1]:.1f} s ours, {len(slower)} programs slower")
