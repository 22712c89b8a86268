#!/bin/sh
# demo.sh ARRAS -- the demonstration runs, and so does what it tells the reader to try.
. "$(dirname "$0")/../kit/check.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
arras=$1
demo=$(dirname "$0")/../../tools/demo

runs() { "$demo" "$arras" "$scratch" >"$scratch/said" && [ -s "$scratch/demo.png" ]; }

shows() { grep -q "$1" "$scratch/said" || { cat "$scratch/said"; return 1; }; }

# Every line that calls the command, but for the REPL, which needs a terminal.
suggestions_run()
{
    sed '1,/^5. /d' "$scratch/said" | grep "^    [^ ].*arras" | grep -v ' repl ' >"$scratch/lines"
    [ "$(wc -l <"$scratch/lines")" -ge 4 ] || return 1
    (cd "$(dirname "$0")/../.." && sh -e "$scratch/lines" >/dev/null)
}

check "the demonstration" runs
check "says what was fused" shows 'as fused'
check "says how fast it ran" shows 'compute  .* GB/s'
check "what it suggests" suggestions_run
finish
