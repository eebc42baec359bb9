"""Verifies programs with Nagini in one JVM.

usage: verify.py RESULTS PROGRAM...

What Nagini says of each program goes to the file RESULTS, and the seconds that its verifier takes
to standard error.
"""

import os
import sys
import time

from nagini_translation import main
from nagini_translation.lib import config
from nagini_translation.lib.jvmaccess import JVM

# Of machine integers, as Nagini has it where nothing else is said.
BITS = 8


def verify(path, jvm):
    """Returns what Nagini says of a program, and the seconds that its verifier takes."""
    modules, program = main.translate(path, jvm, BITS)
    start = time.monotonic()
    result = main.verify(modules, program, path, jvm, [])
    return result.to_string(False, False).strip(), time.monotonic() - start


if __name__ == "__main__":
    jvm = JVM(config.classpath)
    with open(sys.argv[1], "w") as results:
        for path in sys.argv[2:]:
            words, seconds = verify(os.path.abspath(path), jvm)
            name = os.path.basename(path)
            print(f"{name}: {words}", file=results, flush=True)
            print(f"{name}: {seconds:.2f} s", file=sys.stderr, flush=True)
