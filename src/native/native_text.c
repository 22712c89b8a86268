/* native_text.c -- functions that are given as C text: the text becomes the body of a function that
 * is inlined into the loop over a row.  Reach, types and steps stand in the source as numbers, so
 * that the checks of offsets known to the compiler cost nothing; strides do not, so that one source
 * serves every size. */
#include "native/native_parts.h"

#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

static bool is_identifier(const char *name)
{
    if (!*name || (*name >= '0' && *name <= '9'))
        return false;
    for (; *name; name++) {
        char c = *name;

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_'))
            return false;
    }
    return true;
}

static bool is_taken(const char *name)
{
    static const char *const taken[] = { "index", "context", "scratch", "fail" };

    for (size_t i = 0; i < AR_COUNT(taken); i++)
        if (strcmp(name, taken[i]) == 0)
            return true;
    return strncmp(name, "ar_", 3) == 0;
}

static const char *name_of(const ar_native *n, int i)
{
    return i < n->stage.ninputs ? n->inputs[i].name : n->outputs[i - n->stage.ninputs].name;
}

static arras_status check_names(const ar_native *n, arras_error *err)
{
    int count = n->stage.ninputs + n->stage.nresults;

    for (int i = 0; i < count; i++) {
        const char *name = name_of(n, i);

        if (!is_identifier(name) || is_taken(name))
            return ar_fail(err, ARRAS_ENAME,
                           "apply: the text cannot call an array '%s': give it another name", name);
        for (int k = 0; k < i; k++)
            if (strcmp(name, name_of(n, k)) == 0)
                return ar_fail(err, ARRAS_ENAME,
                               "apply: two arrays of the text are called '%s': rename one", name);
    }
    return ARRAS_OK;
}

/* ---- Parts of the source --------------------------------------------------------------------- */

static const char *c_type(arras_dtype dtype)
{
    static const char *const names[ARRAS_DTYPE_END] = {
        [ARRAS_BOOL] = "uint8_t",         [ARRAS_I8] = "int8_t",
        [ARRAS_I16] = "int16_t",          [ARRAS_I32] = "int32_t",
        [ARRAS_I64] = "int64_t",          [ARRAS_U8] = "uint8_t",
        [ARRAS_U16] = "uint16_t",         [ARRAS_U32] = "uint32_t",
        [ARRAS_U64] = "uint64_t",         [ARRAS_F32] = "float",
        [ARRAS_F64] = "double",           [ARRAS_C64] = "float _Complex",
        [ARRAS_C128] = "double _Complex",
    };

    return names[dtype];
}

/* arras_view and arras_cell as they stand in the public header. */
static void put_types(ar_text *out)
{
    ar_text_printf(out,
                   "#include <math.h>\n"
                   "#include <stdint.h>\n"
                   "struct ar_view { const char *at; int64_t advance; int rank;\n"
                   "    int64_t stride[%d], before[%d]; uint64_t span[%d]; };\n",
                   ARRAS_MAX_RANK, ARRAS_MAX_RANK, ARRAS_MAX_RANK);
    ar_text_add(
        out, "struct ar_cell { const struct ar_view *views; const int64_t *index;\n"
             "    void *context, *scratch; int ninputs, noutputs; void *log; };\n"
             "typedef const char *ar_outside(const struct ar_cell *, int, int, const int64_t *);\n"
             "typedef void ar_fail(const struct ar_cell *, const char *);\n"
             "struct ar_call { const struct ar_cell *cell; ar_outside *outside; ar_fail *fail; };\n"
             "#define ar_inline static inline __attribute__((always_inline))\n");
}

/* ", FORMAT0, FORMAT1, ..." for all axes but the last, to which strides are known. */
static void put_strides(ar_text *out, const ar_native_input *in, int k, const char *before)
{
    for (int a = 0; a < in->rank - 1; a++)
        ar_text_printf(out, ", %sar_s%d_%d", before, k, a);
}

static void put_check(ar_text *out, const ar_native_input *in, int k, bool probing)
{
    if (probing)
        ar_text_add(out, "1");
    for (int a = 0; a < in->rank && !probing; a++) {
        ar_text_add(out, a ? " || " : "");
        if (in->whole)
            ar_text_printf(out, "(uint64_t)i%d >= c->cell->views[%d].span[%d]", a, k, a);
        else
            ar_text_printf(out, "i%d < %" PRId64 " || i%d > %" PRId64, a, -in->before[a], a,
                           in->after[a]);
    }
    if (!in->rank && !probing)
        ar_text_add(out, "0");
}

/* The value of input k at an offset. */
static void put_getter(ar_text *out, const ar_native_input *in, int k, bool probing)
{
    const char *type = c_type(in->dtype);

    ar_text_printf(out, "ar_inline %s ar_get%d(const struct ar_call *c, const char *at", type, k);
    put_strides(out, in, k, "int64_t ");
    for (int a = 0; a < in->rank; a++)
        ar_text_printf(out, ", int64_t i%d", a);
    ar_text_add(out, ")\n{\n    if (");
    put_check(out, in, k, probing);
    ar_text_add(out, ") {\n        const int64_t offset[] = { ");
    for (int a = 0; a < in->rank; a++)
        ar_text_printf(out, "i%d, ", a);
    ar_text_printf(
        out, "0 };\n        return *(const %s *)c->outside(c->cell, %d, %d, offset);\n    }\n",
        type, k, in->rank);
    ar_text_printf(out, "    return *(const %s *)(at", type);
    for (int a = 0; a < in->rank - 1; a++)
        ar_text_printf(out, " + i%d * ar_s%d_%d", a, k, a);
    if (in->rank > 0)
        ar_text_printf(out, " + i%d * %zu", in->rank - 1, in->size);
    ar_text_add(out, ");\n}\n");
}

static void put_input_name(ar_text *out, const ar_native_input *in, int k)
{
    ar_text_printf(out, "#define %s(", in->name);
    for (int a = 0; a < in->rank; a++)
        ar_text_printf(out, "%sar_i%d", a ? ", " : "", a);
    ar_text_printf(out, ") ar_get%d(ar_c, ar_p%d", k, k);
    put_strides(out, in, k, "");
    for (int a = 0; a < in->rank; a++)
        ar_text_printf(out, ", (ar_i%d)", a);
    ar_text_add(out, ")\n");
}

static void put_names(ar_text *out, const ar_native *n)
{
    for (int k = 0; k < n->stage.ninputs; k++)
        put_input_name(out, &n->inputs[k], k);
    for (int m = 0; m < n->stage.nresults; m++)
        ar_text_printf(out, n->length ? "#define %s ar_o%d\n" : "#define %s (*ar_o%d)\n",
                       n->outputs[m].name, m);
    ar_text_printf(out, "#define index(a) (ar_c->cell->index[a] + ((a) == %d ? ar_x : 0))\n",
                   n->rank - 1);
    ar_text_add(out, "#define context (ar_c->cell->context)\n"
                     "#define scratch (ar_c->cell->scratch)\n"
                     "#define fail(message) ar_c->fail(ar_c->cell, message)\n");
}

static void put_body(ar_text *out, const ar_native *n, const char *text)
{
    ar_text_add(out, "ar_inline void ar_body(const struct ar_call *ar_c, int64_t ar_x");
    for (int k = 0; k < n->stage.ninputs; k++) {
        ar_text_printf(out, ", const char *ar_p%d", k);
        put_strides(out, &n->inputs[k], k, "int64_t ");
    }
    for (int m = 0; m < n->stage.nresults; m++)
        ar_text_printf(out, ", %s *ar_o%d", c_type(n->outputs[m].dtype), m);
    ar_text_add(out, ")\n{\n");
    put_names(out, n);
    ar_text_add(out, "#line 1\n");
    ar_text_add(out, text);
    ar_text_add(out, "\n}\n");
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* How far the cell moves from one step of the loop to the next. */
static void put_advance(ar_text *out, const ar_native *n, const ar_native_input *in, int k)
{
    int moving = 0, last = in->rank - 1;

    for (int a = 0; a < in->rank && !in->whole; a++)
        moving += in->step[a] > 0 && in->axes[a] == n->rank - 1;
    if (moving == 0)
        ar_text_add(out, "0");
    else if (moving == 1 && in->step[last] > 0 && in->axes[last] == n->rank - 1)
        ar_text_printf(out, "%" PRId64, in->step[last] * (int64_t)in->size);
    else
        ar_text_printf(out, "ar_a%d", k);
}

static void put_locals(ar_text *out, const ar_native *n)
{
    for (int k = 0; k < n->stage.ninputs; k++) {
        ar_text_printf(out,
                       "    const char *ar_p%d = ar_cell->views[%d].at;\n"
                       "    const int64_t ar_a%d = ar_cell->views[%d].advance;\n",
                       k, k, k, k);
        for (int a = 0; a < n->inputs[k].rank - 1; a++)
            ar_text_printf(out, "    const int64_t ar_s%d_%d = ar_cell->views[%d].stride[%d];\n", k,
                           a, k, a);
    }
    for (int m = 0; m < n->stage.nresults; m++)
        ar_text_printf(out, "    %s *restrict ar_r%d = ar_out[%d];\n", c_type(n->outputs[m].dtype),
                       m, m);
}

static void put_call(ar_text *out, const ar_native *n)
{
    ar_text_add(out, "        ar_body(&ar_c, ar_x");
    for (int k = 0; k < n->stage.ninputs; k++) {
        ar_text_printf(out, ", ar_p%d + ar_x * ", k);
        put_advance(out, n, &n->inputs[k], k);
        put_strides(out, &n->inputs[k], k, "");
    }
    for (int m = 0; m < n->stage.nresults; m++)
        if (n->length)
            ar_text_printf(out, ", ar_r%d + ar_x * %" PRId64, m, n->length);
        else
            ar_text_printf(out, ", &ar_v%d", m);
    ar_text_add(out, ");\n");
}

static void put_loop(ar_text *out, const ar_native *n)
{
    ar_text_add(out, "void ar_row(const struct ar_cell *ar_cell, int64_t ar_count,\n"
                     "            void *const *ar_out, ar_outside *o, ar_fail *f)\n"
                     "{\n    const struct ar_call ar_c = { ar_cell, o, f };\n");
    put_locals(out, n);
    ar_text_add(out, "    for (int64_t ar_x = 0; ar_x < ar_count; ar_x++) {\n");
    for (int m = 0; m < n->stage.nresults && !n->length; m++)
        ar_text_printf(out, "        %s ar_v%d = 0;\n", c_type(n->outputs[m].dtype), m);
    put_call(out, n);
    for (int m = 0; m < n->stage.nresults && !n->length; m++)
        ar_text_printf(out, "        ar_r%d[ar_x] = ar_v%d;\n", m, m);
    ar_text_add(out, "    }\n}\n");
}

static void put_source(ar_text *out, const ar_native *n, const arras_apply_spec *spec, bool probing)
{
    put_types(out);
    if (spec->prelude)
        ar_text_printf(out, "#line 1\n%s\n", spec->prelude);
    for (int k = 0; k < n->stage.ninputs; k++)
        put_getter(out, &n->inputs[k], k, probing);
    put_body(out, n, spec->text);
    put_loop(out, n);
}

/* ---- Building and calling -------------------------------------------------------------------- */

typedef void text_row(const arras_cell *first, int64_t count, void *const *out,
                      const char *(*outside)(const arras_cell *, int, int, const int64_t *),
                      void (*fail)(const arras_cell *, const char *));

/* The compiler's message is about the text, whose lines it counts. */
static arras_status fail_build(const ar_native *n, arras_status status, const arras_error *why,
                               arras_error *err)
{
    return ar_fail(err, status, "apply: the text of %s: %s", n->outputs[0].name, why->text);
}

static arras_status compile(ar_native *n, const ar_text *source, const ar_build_options *build,
                            arras_error *err)
{
    static const char *const libraries[] = { "-lm", "-lgcc", NULL };
    ar_build_options         options = *build;
    arras_error              why = { ARRAS_OK, "" };
    arras_status             status;

    options.libraries = libraries;
    ar_module_close(n->module);
    n->module = NULL;
    status = ar_build_open(&n->module, &options, source->data, source->length, &why);
    if (status != ARRAS_OK)
        return fail_build(n, status, &why, err);
    n->entry = ar_module_symbol(n->module, "ar_row");
    return n->entry ? ARRAS_OK
                    : ar_fail(err, ARRAS_EBUILD, "apply: the text of %s has no loop around it",
                              n->outputs[0].name);
}

arras_status ar_native_build(ar_native *n, const arras_apply_spec *spec, bool probing,
                             const ar_build_options *build, arras_error *err)
{
    ar_text      source = { 0 };
    arras_status status = check_names(n, err);

    if (status != ARRAS_OK)
        return status;
    put_source(&source, n, spec, probing);
    status = source.failed ? ar_fail_memory(err, source.length) : compile(n, &source, build, err);
    ar_text_free(&source);
    return status;
}

void ar_native_call_text(const ar_native *n, ar_native_worker *w, int64_t count)
{
    text_row *row;

    memcpy(&row, &n->entry, sizeof row);
    row(&w->cell, count, w->outs, ar_cell_outside, ar_cell_fail);
}
