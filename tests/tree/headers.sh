#!/bin/sh
# headers.sh SOURCE BUILD -- the public headers, with no help, in every C and C++ that users may speak.
. "$(dirname "$0")/../kit/check.sh"
source=$1
build=$2

# compiles HEADER COMPILER LANGUAGE OPTION ...: included twice, for the guard.
compiles()
{
    header=$1 compiler=$2 language=$3
    shift 3
    printf '#include <arras/%s>\n#include <arras/%s>\n' "$header" "$header" |
        "$compiler" -x "$language" "$@" -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror \
            -I "$source/include" -I "$build/include" -fsyntax-only -
}

for path in "$source"/include/arras/*.h; do
    header=$(basename "$path")
    for standard in c99 c11 c17; do
        check "$header as $standard" compiles "$header" cc c -std=$standard -Wstrict-prototypes
    done
    for standard in c++11 c++17 c++20; do
        check "$header as $standard" compiles "$header" c++ c++ -std=$standard
    done
done
finish
