#!/bin/sh
# symbols.sh LIBRARY ARCHIVE -- what the shared library shows is arras_...; what it never calls ends the
# process or prints, except for what ARRAS_DEBUG asks for.
. "$(dirname "$0")/../kit/check.sh"
library=$1 archive=$2

exports_only_ours()
{
    ! nm -D --defined-only "$library" | awk '{ print $NF }' | grep -v '^arras_'
}

exports_something()
{
    nm -D --defined-only "$library" | grep -q ' T arras_version$'
}

# never_uses WORD ...: printf also means vprintf, __printf_chk and printf_unlocked.
never_uses()
{
    for word in "$@"; do
        nm -D --undefined-only "$library" | sed 's/.* //; s/@.*//' |
            grep -xE "v?$word|__v?${word}_chk|${word}_unlocked" && return 1
    done
    return 0
}

# ARRAS_DEBUG shows stages of compilation on the standard error, from this one file.
only_debug_writes()
{
    [ "$(nm -A --undefined-only "$archive" | awk '$NF == "write" { print $1 }')" = "$archive:debug.c.o:" ]
}

check "something is exported" exports_something
check "only arras_ symbols are exported" exports_only_ours
for word in abort exit _exit _Exit quick_exit raise kill __assert_fail longjmp; do
    check "nothing calls $word" never_uses $word
done
for word in printf fprintf dprintf puts fputs putchar fputc putc fwrite perror psignal syslog; do
    check "nothing prints with $word" never_uses $word
done
check "only debug.c calls write" only_debug_writes
check "nothing uses a standard stream" never_uses stdout stderr
finish
