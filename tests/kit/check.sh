# check.sh -- for tests in shell: check "what is checked" COMMAND ..., and at the end: finish.
# A command that fails is a check that failed; what it said is shown.

passed=0
failed=0

check()
{
    what=$1
    shift
    if output=$("$@" 2>&1); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'failed: %s\n%s\n' "$what" "$output"
    fi
}

finish()
{
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
    exit
}
