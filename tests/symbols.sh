#!/bin/sh
# symbols.sh LIBRARY -- what the shared library shows is arras_...; what it never calls ends the process
# or prints.
. "$(dirname "$0")/check.sh"
library=$1

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

check "something is exported" exports_something
check "only arras_ symbols are exported" exports_only_ours
for word in abort exit _exit _Exit quick_exit raise kill __assert_fail longjmp; do
    check "nothing calls $word" never_uses $word
done
for word in printf fprintf dprintf puts fputs putchar fputc putc fwrite write perror psignal syslog; do
    check "nothing prints with $word" never_uses $word
done
check "nothing uses a standard stream" never_uses stdout stderr
finish
