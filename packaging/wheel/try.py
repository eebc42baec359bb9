"""Uses the client of the wheel once: a program that is verified, and its mistaken twin."""

from silicon_verifier import Verifier, VerifierError

WRONG = "method m(x: Int)\n{\n  assert x != 0\n}\n"
RIGHT = WRONG.replace("{", "  requires 0 < x\n{", 1)

with Verifier() as verifier:
    assert verifier.verify("right.vpr", RIGHT).is_verified
    wrong = verifier.verify("wrong.vpr", WRONG, "--counterexample")
    assert not wrong.is_verified and [member.name for member in wrong.members] == ["m"]
    (finding,) = wrong.findings
    assert (finding.id, finding.line) == ("assert.failed:assertion.false", 3), finding
    try:
        verifier.verify("right.vpr", RIGHT, "--no-such-option")
    except VerifierError:
        pass
    else:
        raise AssertionError("an unknown option is refused")
print("the client works")
