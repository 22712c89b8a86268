/* lang_functions.c -- the table of functions: the library's operations, reductions and types, and
 * the rows of lang_builders.c; made once, in alphabetical order. */
#include "lang/lang_functions.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FUNCTIONS = 256, LONGEST_USAGE = 80 };

static struct {
    lang_function items[MOST_FUNCTIONS];
    char          names[MOST_FUNCTIONS][24];
    char          usages[MOST_FUNCTIONS][LONGEST_USAGE];
    int           count;
} table;
static pthread_once_t table_is_made = PTHREAD_ONCE_INIT;

/* ---- From "roll(x, shift, axis=all)" to parameters ------------------------------------------- */

static void copy_until(char *out, size_t size, const char *text, const char *ends)
{
    size_t length = strcspn(text, ends);

    length = length < size ? length : size - 1;
    memcpy(out, text, length);
    out[length] = '\0';
}

static void read_parameters(lang_function *f, const char *usage, const char *types)
{
    const char *at = strchr(usage, '(') + 1;

    for (; *types; types++) {
        int i = f->nparameters++;

        copy_until(f->parameters[i].name, sizeof f->parameters[i].name, at, "=,)");
        f->parameters[i].type = (lang_parameter_type)*types;
        at += strcspn(at, "=,)");
        if (*at != '=' && *types != LANG_P_REST)
            f->nneeded = f->nparameters;
        at += strcspn(at, ",)");
        at += strspn(at, ", ");
    }
}

static lang_function *add(const char *usage, const char *types, const char *text)
{
    int            i = table.count++;
    lang_function *f = &table.items[i];

    copy_until(table.names[i], sizeof table.names[i], usage, "(");
    copy_until(table.usages[i], sizeof table.usages[i], usage, "");
    f->info = (lang_function_info){ table.names[i], table.usages[i], text };
    read_parameters(f, usage, types);
    return f;
}

/* ---- The rows -------------------------------------------------------------------------------- */

static void add_operations(void)
{
    static const char *const parameters[] = { "", "(x)", "(x, y)", "(x, y, z)" };
    static const char *const types[] = { "", "x", "xx", "xxx" };

    for (int op = 0; op < arras_op_count(); op++) {
        const arras_op_info *info = arras_op_get(op);
        char                 usage[LONGEST_USAGE];
        lang_function       *f;

        snprintf(usage, sizeof usage, "%s%s", info->name, parameters[info->arity]);
        f = add(usage, types[info->arity], info->text);
        f->kind = LANG_F_OP;
        f->op = op;
    }
}

static void add_casts(void)
{
    static const char *const texts[ARRAS_DTYPE_END] = {
#define LANG_CAST_TEXT(constant, name, ctype) [ARRAS_##constant] = "x as " #name,
        ARRAS_DTYPE_LIST(LANG_CAST_TEXT)
#undef LANG_CAST_TEXT
    };

    for (int dtype = ARRAS_NO_DTYPE + 1; dtype < ARRAS_DTYPE_END; dtype++) {
        char           usage[LONGEST_USAGE];
        lang_function *f;

        snprintf(usage, sizeof usage, "%s(x)", arras_dtype_name((arras_dtype)dtype));
        f = add(usage, "x", texts[dtype]);
        f->kind = LANG_F_CAST;
        f->op = dtype;
    }
}

static void add_builders(void)
{
    for (int i = 0; i < lang_builder_count; i++) {
        const lang_builder_row *row = &lang_builders[i];
        lang_function          *f = add(row->usage, row->types, row->text);

        f->kind = row->kind;
        f->op = row->op;
        f->build = row->build;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const lang_function *)a)->info.name, ((const lang_function *)b)->info.name);
}

static void make_table(void)
{
    add_operations();
    add_casts();
    add_builders();
    qsort(table.items, (size_t)table.count, sizeof *table.items, by_name);
}

/* ---- Looking up ------------------------------------------------------------------------------ */

const lang_function *lang_find_function(const char *name)
{
    lang_function wanted = { .info = { .name = name } };

    pthread_once(&table_is_made, make_table);
    return bsearch(&wanted, table.items, (size_t)table.count, sizeof *table.items, by_name);
}

bool lang_is_function(const char *name) { return lang_find_function(name) != NULL; }

const lang_function_info *lang_function_at(int i)
{
    pthread_once(&table_is_made, make_table);
    return i >= 0 && i < table.count ? &table.items[i].info : NULL;
}

static void offer_functions(lang_guess *guess, const lang_program *p)
{
    for (int i = 0; lang_function_at(i); i++)
        lang_guess_offer(guess, lang_function_at(i)->name);
    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement *s = p->statements.items[i];

        if (s->kind == LANG_DEF)
            lang_guess_offer(guess, s->symbol->text);
    }
}

bool lang_fail_unknown_function(lang_lowering *L, const lang_node *call)
{
    const char *name = call->symbol->text;
    lang_guess  guess = { .wanted = name };
    lang_place  place = { call->place.source, call->place.start, strlen(name) };
    char        room[640];
    const char *advice = lang_function_advice(name, room, sizeof room);

    if (call->symbol->array || lang_map_find(L->inputs, call->symbol))
        return lang_fail(L->err, place, "`%s` is an array, not a function; its cells are %s[...]",
                         name, name);
    if (!advice) {
        offer_functions(&guess, L->program);
        advice = lang_guess_text(&guess, room, sizeof room);
    }
    return lang_fail(L->err, place, "unknown function `%s`%s", name, advice);
}
