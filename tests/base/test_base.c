/* test_base.c -- errors, memory, text, tables. */
#include "base/base.h"
#include "test.h"

static void a_failure_is_one_line(void)
{
    arras_error err;

    CHECK_EQ_INT(ar_fail(&err, ARRAS_EINVAL, "a\nb\t%d\x7f", 5), ARRAS_EINVAL);
    CHECK_STR(err.text, "a?b?5?");
    CHECK_EQ_INT(ar_fail(NULL, ARRAS_ENOMEM, "nobody listens"), ARRAS_ENOMEM);
    ar_fail(&err, ARRAS_EINVAL, "%*s", 5000, "long");
    CHECK_EQ_INT((int64_t)strlen(err.text), (int64_t)sizeof err.text - 1);
}

static void allocation_fails_on_request(void)
{
    int64_t before = ar_alloc_live();
    void   *one;

    ar_alloc_fail_from(2);
    one = ar_alloc(1, 1);
    CHECK(one != NULL);
    CHECK(ar_alloc(1, 1) == NULL);
    CHECK(ar_alloc(1, 1) == NULL);
    ar_alloc_fail_from(0);
    CHECK_EQ_INT(ar_alloc_live(), before + 1);
    ar_free(one);
    CHECK_EQ_INT(ar_alloc_live(), before);
    CHECK(ar_alloc(SIZE_MAX / 2, 4) == NULL);
    CHECK(ar_realloc(NULL, SIZE_MAX / 2, 4) == NULL);
}

static void an_arena_gives_aligned_zeroes(void)
{
    ar_arena arena = { 0 };

    for (size_t i = 1; i < 3000; i += 7) {
        unsigned char *bytes = ar_arena_alloc(&arena, i * i / 50 + 1, 1);

        if (!CHECK(bytes && (uintptr_t)bytes % 16 == 0 && bytes[0] == 0))
            break;
        memset(bytes, 255, i * i / 50 + 1);
    }
    CHECK(ar_arena_alloc(&arena, SIZE_MAX, 2) == NULL);
    ar_arena_free(&arena);
    CHECK(arena.top == NULL);
}

static void text_grows(void)
{
    ar_text text = { 0 };

    for (int i = 0; i < 1000; i++)
        ar_text_printf(&text, "%d,", i % 10);
    ar_text_put(&text, "\0end", 4);
    CHECK_EQ_INT((int64_t)text.length, 2004);
    CHECK(memcmp(text.data + 2000, "\0end", 5) == 0);
    ar_text_free(&text);
    ar_alloc_fail_from(1);
    ar_text_add(&text, "lost");
    ar_alloc_fail_from(0);
    CHECK(text.failed && text.length == 0);
    ar_text_add(&text, "lost too: half a text would be a lie");
    CHECK(text.length == 0);
    ar_text_free(&text);
}

static const struct {
    const char *a, *b;
    int         edits;
} words[] = {
    { "sin", "sin", 0 }, { "sin", "sinh", 1 },       { "maximun", "maximum", 1 },
    { "", "abc", 3 },    { "kitten", "sitting", 3 },
};

static void words_have_a_distance(void)
{
    for (size_t i = 0; i < AR_COUNT(words); i++) {
        CASE("%s to %s", words[i].a, words[i].b);
        CHECK_EQ_INT(ar_text_distance(words[i].a, words[i].b), words[i].edits);
        CHECK_EQ_INT(ar_text_distance(words[i].b, words[i].a), words[i].edits);
    }
}

static bool same_string(const void *item, const void *key) { return strcmp(item, key) == 0; }

/* Every hash is the same: the table must still tell items apart. */
static void a_table_survives_collisions(void)
{
    static char names[200][16];
    ar_table    table = { 0 };

    for (int i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        CHECK(ar_table_find(&table, 7, same_string, names[i]) == NULL);
        CHECK(ar_table_add(&table, 7, names[i]));
    }
    for (int i = 0; i < 200; i++)
        CHECK(ar_table_find(&table, 7, same_string, names[i]) == names[i]);
    CHECK_EQ_INT((int64_t)table.count, 200);
    ar_table_free(&table);
}

static void hashes_do_not_depend_on_the_process(void)
{
    CHECK(ar_hash_bytes(0, "arras", 5) == ar_hash_bytes(0, "arras", 5));
    CHECK(ar_hash_bytes(0, "arras", 5) != ar_hash_bytes(0, "arrat", 5));
    CHECK(ar_hash_bytes(0, "a\0", 2) != ar_hash_bytes(0, "a\0\0", 3));
}

TEST_MAIN
{
    RUN(a_failure_is_one_line);
    RUN(allocation_fails_on_request);
    RUN(an_arena_gives_aligned_zeroes);
    RUN(text_grows);
    RUN(words_have_a_distance);
    RUN(a_table_survives_collisions);
    RUN(hashes_do_not_depend_on_the_process);
}
