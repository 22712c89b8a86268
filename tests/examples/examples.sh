#!/bin/sh
# examples.sh PROGRAM ... -- each example runs, says something and finds nothing wrong.
. "$(dirname "$0")/../kit/check.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1

runs()
{
    "$1" >said || return 1
    [ -s said ] || { echo "it said nothing"; return 1; }
}

for program in "$@"; do
    check "$(basename "$program")" runs "$program"
done
finish
