"""A client of ``silicon serve``: verifies texts, one after the other, in a process that stays."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Iterator

__all__ = ["Finding", "Member", "Result", "Verifier", "VerifierError"]


class VerifierError(Exception):
    """The request cannot be worked on, or the process has ended."""


@dataclass(frozen=True)
class Finding:
    """What is wrong, and where; lines and columns count from 1."""

    file: str
    line: int
    column: int
    severity: str
    id: str
    message: str
    member: str | None
    #: The line of JSON, with everything else: ``docs/schemas/output.schema.json``.
    raw: dict[str, Any]


@dataclass(frozen=True)
class Member:
    """A member and its verdict."""

    kind: str
    name: str
    verdict: str


@dataclass(frozen=True)
class Result:
    """The whole answer about a text."""

    verdict: str
    members: tuple[Member, ...]
    findings: tuple[Finding, ...]

    @property
    def is_verified(self) -> bool:
        """Whether every member is verified, and there is one."""
        return self.verdict == "verified"


def command() -> str:
    """The command beside this interpreter, or else the one of the search path."""
    beside = Path(sysconfig.get_path("scripts")) / "silicon"
    return str(beside) if beside.exists() else "silicon"


class Verifier:
    """A process that verifies; to be closed, or used in a ``with``."""

    def __init__(self, executable: str | None = None) -> None:
        self._process = subprocess.Popen(
            [executable or command(), "serve", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._requests = 0

    def lines(self, name: str, text: str, *options: str) -> Iterator[dict[str, Any]]:
        """Verify a text, and yield the lines of the answer as they come.

        The end of the name tells the language; options are those of the command line.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        self._requests += 1
        request = {"name": name, "text": text, "options": list(options)}
        try:
            print(json.dumps({"id": self._requests, "verify": request}), file=stdin, flush=True)
        except BrokenPipeError as error:
            raise VerifierError("the process that verifies has ended") from error
        for line in stdout:
            answer = json.loads(line)
            if answer.get("to") != self._requests:
                continue
            if "error" in answer:
                raise VerifierError(answer["error"])
            yield answer["line"]
            if answer["line"]["type"] == "run":
                return
        raise VerifierError("the process that verifies has ended")

    def verify(self, name: str, text: str, *options: str) -> Result:
        """Verify a text, and wait for all of the answer."""
        members: list[Member] = []
        findings: list[Finding] = []
        verdict = "error"
        for line in self.lines(name, text, *options):
            if line["type"] == "member":
                members.append(Member(line["kind"], line["name"], line["verdict"]))
            elif line["type"] == "diagnostic":
                findings.append(
                    Finding(
                        file=line["file"],
                        line=line["start"]["line"],
                        column=line["start"]["column"],
                        severity=line["severity"],
                        id=line["id"],
                        message=line["message"],
                        member=line.get("member"),
                        raw=line,
                    )
                )
            elif line["type"] == "run":
                verdict = line["verdict"]
        return Result(verdict, tuple(members), tuple(findings))

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Verifier:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
