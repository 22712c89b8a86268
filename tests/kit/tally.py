"""tally.py -- for tests in Python: counts checks and ends with the line every test ends with."""

import sys

SHOWN = 25  # complaints of one check

class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, what, complaints):
        """One check: it passes when there is nothing to complain about."""
        if not complaints:
            self.passed += 1
            return
        self.failed += 1
        print(f"failed: {what}")
        for complaint in complaints[:SHOWN]:
            print(f"    {complaint}")
        if len(complaints) > SHOWN:
            print(f"    and {len(complaints) - SHOWN} more")

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(self.failed > 0 or self.passed == 0)
