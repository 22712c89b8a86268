#!/bin/sh
# fuzz.sh TARGET SECONDS SEEDS -- a libFuzzer target finds nothing for so long.  It starts from the files
# in SEEDS, if there are any; inputs it finds interesting are kept next to TARGET for the next run.
. "$(dirname "$0")/../kit/check.sh"
target=$1
seconds=$2
seeds=$3
found=$target.corpus
mkdir -p "$found"
[ -d "$seeds" ] || seeds=

check "$(basename "$target") for $seconds s" "$target" -max_total_time="$seconds" -timeout=10 \
    -artifact_prefix="$target.crash-" "$found" ${seeds:+"$seeds"}
finish
