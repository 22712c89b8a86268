"""grammar.py --command ARRAS [--count N] [--seed N] -- what the manual's grammar makes, the parser reads.

Random programs are derived from the EBNF in docs/language.md.  They need not mean anything; but the command must
not say that it expected something else.
"""

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from tally import Tally

MANUAL = Path(__file__).resolve().parents[2] / "docs/language.md"
TOKEN = re.compile(r"""\s*(?:\(\*.*?\*\)\s*)?("[^"]*"|'[^']*'|\w+|[][(){}|;=])""", re.DOTALL)
NOT_READ = re.compile(r"expected|means nothing|runs into|does not end|no text|can't begin|brackets in")
DEEPEST = 60 # rules in one another: an operand stands 14 below its expression
LARGEST = 300 # rules of a statement; after that it is ended the shortest way
TRIES = {"maybe": [0, 0, 1], "many": [0] * 7 + [1, 2]}

# Rules of single characters are easier to make than to read.
MADE = {
    "name": lambda r: r.choice("a b x y h_2 idx k i j p.x A1".split()),
    "index": lambda r: f"n{r.randrange(1000)}",
    "number": lambda r: r.choice("0 12 1_000 0x1F 1.5 2. .5 1e-3 1E+2 2j 1.5e3j".split()),
    "text": lambda r: r.choice(['""', '"ij,jk->ik"', '"C"']),
    "newline": lambda r: "\n",
}


class Grammar:
    """Rules as trees: ("or", parts), ("and", parts), ("maybe", part), ("many", part), ("token", text), ("rule", name)."""

    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.rules = {}
        while self.at < len(self.tokens):
            name = self.take()
            self.take("=")
            if name in MADE or name in ("letter",):
                while self.take() != ";":
                    pass
                continue
            self.rules[name] = self.alternatives()
            self.take(";")
        self.least = {name: 0 for name in MADE}
        for _ in self.rules:
            for name, rule in self.rules.items():
                depth = self.depth_of(rule)
                if depth is not None:
                    self.least[name] = min(depth + 1, self.least.get(name, DEEPEST * 9))

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if wanted and token != wanted:
            sys.exit(f"grammar.py: expected {wanted} in the grammar, found {token}")
        self.at += 1
        return token

    def alternatives(self):
        parts = [self.sequence()]
        while self.tokens[self.at] == "|":
            self.at += 1
            parts.append(self.sequence())
        return ("or", parts)

    def sequence(self):
        parts = []
        while self.tokens[self.at] not in ("|", ";", ")", "]", "}"):
            parts.append(self.item())
        return ("and", parts)

    def item(self):
        token = self.take()
        close = {"[": ("]", "maybe"), "{": ("}", "many"), "(": (")", None)}.get(token)
        if not close:
            return ("token", token[1:-1]) if token[0] in "\"'" else ("rule", token)
        inside = self.alternatives()
        self.take(close[0])
        return (close[1], inside) if close[1] else inside

    def depth_of(self, node):
        """The least number of rules within rules; None: not known yet."""
        kind, body = node
        if kind in ("maybe", "many", "token"):
            return 0
        if kind == "rule":
            return self.least.get(body)
        depths = [self.depth_of(part) for part in body]
        known = [depth for depth in depths if depth is not None]
        if kind == "or":
            return min(known, default=None)
        return max(known, default=0) if len(known) == len(depths) else None

    def statement(self, r):
        self.left = LARGEST
        return " ".join(self.make(("rule", "statement"), r, 0))

    def make(self, node, r, depth):
        kind, body = node
        if kind == "token":
            return [body]
        short = depth > DEEPEST or self.left < 0
        if kind == "rule":
            self.left -= 1
            return [MADE[body](r)] if body in MADE else self.make(self.rules[body], r, depth + 1)
        if kind == "and":
            return [token for part in body for token in self.make(part, r, depth)]
        if kind == "or":
            if short:
                return self.make(min(body, key=self.depth_of), r, depth)
            return self.make(r.choice(body), r, depth)
        times = 0 if short else r.choice(TRIES[kind])
        return [token for _ in range(times) for token in self.make(body, r, depth)]


def complaints(command, program):
    # A line that begins with a sign would go on with the one before.
    program = re.sub(r"\n\s*([-+])", r"\n1 \1", program)
    done = subprocess.run([command, "run", "--quiet", "-f", "-"], input=program, text=True, timeout=600,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode in (0, 1) and not NOT_READ.search(done.stderr.split("\n")[0]):
        return []
    return [f"status {done.returncode}", program, done.stderr]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", required=True)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    grammar = Grammar(re.search(r"## Grammar.*?```\n(.*?)```", MANUAL.read_text(), re.DOTALL)[1])
    r = random.Random(options.seed)
    tally = Tally()
    tally.check("what is no program is refused", [] if complaints(options.command, "y = (1") else ["it was not"])
    for number in range(options.count):
        program = "\n".join(grammar.statement(r) for _ in range(4))
        tally.check(f"program {number}", complaints(options.command, program))
    tally.finish()


main()
