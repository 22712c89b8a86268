/* test_chunk_log.c -- logs of queries in CSV and JSON: what is read, what is refused, and what
 * happens when there is no memory. */
#include <string.h>

#include "chunk_world.h"

/* All of these say: rows 1 to 3 and columns 2 to 5, then rows 4 to 7 and columns 6 to 10. */
static const char *const same[] = {
    "1,3,2,5\n4,7,6,10\n",
    "1,3,2,5\r\n4,7,6,10\r\n",
    "# rows, columns\n\n 1, 3, 2, 5\n4;7;6;10",
    "row_start,row_stop,column_start,column_stop\n1,3,2,5\n4,7,6,10\n",
    "1 3 2 5\n4 7 6 10\n",
    "[[[1,3],[2,5]],[[4,7],[6,10]]]",
    "[[1,3],[2,5]]\n[[4,7],[6,10]]\n",
    "{\"queries\": [[[1, 3], [2, 5]], [[4, 7], [6, 10]]]}",
    "[{\"start\": [1, 2], \"stop\": [3, 5]}, {\"stop\": [7, 10], \"start\": [4, 6]}]",
    "{\"start\": [1, 2], \"stop\": [3, 5]}\n{\"start\": [4, 6], \"stop\": [7, 10]}\n",
};

static void all_forms_are_read(void)
{
    static const int64_t lo[] = { 1, 2, 4, 6 }, hi[] = { 3, 5, 7, 10 };

    for (size_t i = 0; i < AR_COUNT(same); i++) {
        arras_workload *w = NULL;
        arras_error     err = { 0 };

        CASE("form %zu", i);
        ar_workload_from_log(&w, 2, same[i], strlen(same[i]), "log", &err);
        CHECK_STR(err.text, "");
        if (!CHECK(w && w->queries == 2))
            continue;
        CHECK(memcmp(w->lo, lo, sizeof lo) == 0 && memcmp(w->hi, hi, sizeof hi) == 0);
        CHECK_EQ_INT(w->count, 2);
        ar_workload_free(w);
    }
}

static void wrong_ones_are_refused(void)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "", "no queries in it" },
        { "# nothing\n", "no queries in it" },
        { "[]", "no queries in it" },
        { "1,3,2\n", "log:1: there are too few numbers" },
        { "1,3,2,5\n1,3,2,5,7\n", "log:2: there are too many numbers" },
        { "1,3,2,x\n", "log:1: this is not a whole number" },
        { "1,3,2,99999999999999999999\n", "log:1: this is not a whole number" },
        { "1,3,2.5,5\n", "log:1: this is not a whole number" },
        { "a,b,c,d\ne,f,g,h\n", "log:2: this is not a whole number" },
        { "1,3,5,5\n", "query 1 is empty along axis 1" },
        { "1,3,2,5\n3,1,2,5\n", "query 2 is empty along axis 0" },
        { "-1,3,2,5\n", "query 1 starts at -1 along axis 0" },
        { "[[[1,3],[2,5]]", "the end of the list" },
        { "[[[1,3]]]", "a pair for each axis" },
        { "[[[1,3],[2,5],[7,8]]]", "as many pairs as there are axes" },
        { "[[[1,3],[2,5.5]]]", "expected" },
        { "[[[1,3],[2,\"x\"]]]", "a whole number" },
        { "{\"start\": [1, 2]}", "a start and a stop" },
        { "{\"begin\": [1, 2]}", "\"start\", \"stop\" or \"queries\"" },
        { "{\"queries\": 7}", "expected" },
        { "[{\"queries\": [[[1,3],[2,5]]]}]", "\"start\", \"stop\" or \"queries\"" },
        { "{\"start", "a quote after the name" },
        { "{", "a name in quotes" },
        { "[\n\n[[1,3],[2,]]]", "log:3" },
    };

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        arras_workload *w = NULL;
        arras_error     err = { 0 };

        CASE("%s", rows[i].text);
        CHECK(ar_workload_from_log(&w, 2, rows[i].text, strlen(rows[i].text), "log", &err) !=
              ARRAS_OK);
        CHECK_HAS(err.text, rows[i].says);
        CHECK(!w && !strchr(err.text, '\n'));
    }
}

/* A text that is cut off anywhere is read or refused, and never read beyond its end. */
static void cut_texts_do_no_harm(void)
{
    int refused = 0;

    for (size_t i = 0; i < AR_COUNT(same); i++)
        for (size_t length = 0; length < strlen(same[i]); length++) {
            arras_workload *w = NULL;
            char           *exact = ar_alloc(length + 1, 1);

            memcpy(exact, same[i], length);
            refused += ar_workload_from_log(&w, 2, exact, length, "log", NULL) != ARRAS_OK;
            ar_workload_free(w);
            ar_free(exact);
        }
    CHECK(refused > 200);
}

static void survives_without_memory(void)
{
    int64_t live = ar_alloc_live();

    for (size_t i = 0; i < AR_COUNT(same); i += 5) {
        arras_status status = ARRAS_ENOMEM;

        for (int64_t n = 1; status == ARRAS_ENOMEM && n < 1000; n++) {
            arras_workload *w = NULL, *independent = NULL, *joint = NULL;

            ar_alloc_fail_from(n);
            status = ar_workload_from_log(&w, 2, same[i], strlen(same[i]), "log", NULL);
            if (status == ARRAS_OK)
                status = ar_workload_independent(&independent, w, NULL);
            if (status == ARRAS_OK)
                status = ar_workload_joint(&joint, independent, NULL);
            ar_alloc_fail_from(0);
            ar_workload_free(w);
            ar_workload_free(independent);
            ar_workload_free(joint);
            CHECK_EQ_INT(ar_alloc_live(), live);
        }
        CHECK_EQ_INT(status, ARRAS_OK);
    }
}

static void many_queries_are_read(void)
{
    enum { QUERIES = 20000 };
    arras_workload *w = NULL;
    ar_text         text = { 0 };

    for (int i = 0; i < QUERIES; i++)
        ar_text_printf(&text, "%d,%d,0,%d\n", i, i + 1 + i % 7, 1 + i % 3);
    CHECK(ar_workload_from_log(&w, 2, text.data, text.length, "log", NULL) == ARRAS_OK);
    CHECK_EQ_INT(w->queries, QUERIES);
    CHECK_EQ_INT(w->count, 21);
    CHECK_EQ_INT(w->axes[0].count, 7);
    CHECK_EQ_INT(w->axes[1].total, QUERIES);
    ar_workload_free(w);
    ar_text_free(&text);
}

TEST_MAIN
{
    RUN(all_forms_are_read);
    RUN(wrong_ones_are_refused);
    RUN(cut_texts_do_no_harm);
    RUN(survives_without_memory);
    RUN(many_queries_are_read);
}
