"""Verifies Viper programs with the reference verifier that comes with Nagini, in one JVM.

usage: viper.py RESULTS FLAGS PROGRAM...

The errors of each program go to the file RESULTS, a line each, so that a run behind
`silicon jvm run --` and one without it can be compared.
"""

import sys
import time

import jpype
from nagini_translation.lib import config


def verify(flags, path):
    """Returns the lines on a program, and the seconds that it takes."""
    scala = jpype.JPackage("scala")
    noop = jpype.JClass("viper.silver.reporter.NoopReporter$")
    logger = jpype.JClass("org.slf4j.LoggerFactory").getLogger("viper")
    frontend = jpype.JClass("viper.silicon.SiliconFrontend")(getattr(noop, "MODULE$"), logger)
    words = jpype.java.util.ArrayList(["--z3Exe", config.z3_path] + flags + [path])
    arguments = scala.jdk.javaapi.CollectionConverters.asScala(words).toSeq()
    start = time.monotonic()
    frontend.execute(arguments, scala.Option.empty())
    seconds = time.monotonic() - start
    result = frontend.result()
    if not isinstance(result, jpype.JClass("viper.silver.verifier.Failure")):
        return ["verified"], seconds
    errors = scala.jdk.javaapi.CollectionConverters.asJava(result.errors())
    return [f"{error.fullId()}: {error.readableMessage()}" for error in errors], seconds


if __name__ == "__main__":
    jpype.startJVM("-Xss128m", classpath=config.classpath.split(":"))
    with open(sys.argv[1], "w") as results:
        for path in sys.argv[3:]:
            lines, seconds = verify(sys.argv[2].split(), path)
            for line in lines:
                print(f"{path}: {' '.join(line.split())}", file=results, flush=True)
            print(f"{path}: {seconds:.2f} s", file=sys.stderr, flush=True)
