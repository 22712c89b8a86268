/* einsum.c -- sums of products over named indices: reads NumPy's notation, keeps one spelling of
 * it.
 *
 * A node's name is the full spec with an output, without ellipses and blanks, and with letters
 * renamed in the order in which they appear: "ij,jk" and "ab,bc->ac" are one node. */
#include "ir/graph.h"

#include <string.h>

/* A label is a letter's number (0..51), or 52 + k for the k-th axis from the right that "..."
 * stands for. */
enum { LETTERS = 52, LABELS = LETTERS + ARRAS_MAX_RANK, ELLIPSIS = -2, MAX_OPERANDS = 64 };

typedef struct {
    int rank;
    int labels[ARRAS_MAX_RANK];
} subscript;

typedef struct {
    arras_graph *g;
    const char  *spec; /* for messages */
    int          n;
    subscript    in[MAX_OPERANDS], out;
    int          spread; /* most axes that an ellipsis stands for */
    int          uses[LABELS];
    arras_dim    length[LABELS]; /* -1: not met yet */
    arras_error  err;
} reader;

static arras_status fail(reader *r, const char *what)
{
    return ar_fail(&r->err, ARRAS_EINVAL, "einsum \"%.200s\": %s", r->spec, what);
}

static int letter_number(char c)
{
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    return c >= 'A' && c <= 'Z' ? 26 + c - 'A' : -1;
}

/* One comma-separated part; an ellipsis is kept as one mark until the rank is known. */
static arras_status read_part(reader *r, const char *from, const char *to, int *labels, int *count)
{
    bool ellipsis = false;

    *count = 0;
    for (const char *c = from; c < to; c++) {
        if (*c == ' ')
            continue;
        if (*count >= 2 * ARRAS_MAX_RANK)
            return fail(r, "too many letters in one part");
        if (to - c >= 3 && memcmp(c, "...", 3) == 0) {
            if (ellipsis)
                return fail(r, "two ellipses in one part");
            ellipsis = true;
            labels[(*count)++] = ELLIPSIS;
            c += 2;
        } else if (letter_number(*c) >= 0) {
            labels[(*count)++] = letter_number(*c);
        } else {
            return fail(r, "a letter, ',', '->' or '...' is expected");
        }
    }
    return ARRAS_OK;
}

/* Replaces the mark by `axes` labels counted from the right, so that ellipses align like
 * broadcasting. */
static arras_status spread_ellipsis(reader *r, subscript *s, const int *labels, int count, int axes)
{
    s->rank = 0;
    for (int i = 0; i < count; i++) {
        int first = labels[i] == ELLIPSIS ? LETTERS + axes - 1 : labels[i];
        int times = labels[i] == ELLIPSIS ? axes : 1;

        for (int k = 0; k < times; k++) {
            if (s->rank >= ARRAS_MAX_RANK)
                return fail(r, "a part has more axes than an array can have");
            s->labels[s->rank++] = first - k;
        }
    }
    return ARRAS_OK;
}

static arras_status read_operand(reader *r, int operand, const char *from, const char *to,
                                 arras_array x)
{
    int          labels[2 * ARRAS_MAX_RANK], count, named = 0;
    arras_status status = read_part(r, from, to, labels, &count);

    if (status != ARRAS_OK)
        return status;
    for (int i = 0; i < count; i++)
        named += labels[i] != ELLIPSIS;
    if (named > x->rank || (named == count && named != x->rank))
        return ar_fail(&r->err, ARRAS_ESHAPE,
                       "einsum \"%.200s\": operand %d has rank %d, its part names %d axes", r->spec,
                       operand, x->rank, named);
    if (named < count && x->rank - named > r->spread)
        r->spread = x->rank - named;
    return spread_ellipsis(r, &r->in[operand], labels, count, x->rank - named);
}

static arras_status merge_length(reader *r, int label, arras_dim length, int operand)
{
    arras_dim *known = &r->length[label];
    ar_text    text = { 0 };

    if (*known == -1 || *known == 1 || length == *known || length == 1) {
        *known = *known == -1 || *known == 1 ? length : *known;
        return ARRAS_OK;
    }
    ar_dim_print(&text, r->g, *known);
    ar_text_add(&text, " before but ");
    ar_dim_print(&text, r->g, length);
    ar_fail(&r->err, ARRAS_ESHAPE, "einsum \"%.200s\": an index is %s in operand %d", r->spec,
            text.data ? text.data : "", operand);
    ar_text_free(&text);
    return ARRAS_ESHAPE;
}

/* An index that stands twice in one operand walks a diagonal: both axes must be of one length. */
static arras_status check_diagonal(reader *r, int operand, arras_array x)
{
    const subscript *s = &r->in[operand];

    for (int i = 0; i < s->rank; i++)
        for (int j = 0; j < i; j++)
            if (s->labels[i] == s->labels[j] && x->shape[i] != x->shape[j])
                return ar_fail(
                    &r->err, ARRAS_ESHAPE,
                    "einsum \"%.200s\": axes %d and %d of operand %d have one index, but "
                    "different lengths",
                    r->spec, j, i, operand);
    return ARRAS_OK;
}

static arras_status collect(reader *r, const arras_array *xs)
{
    for (int i = 0; i < r->n; i++) {
        if (check_diagonal(r, i, xs[i]) != ARRAS_OK)
            return r->err.code;
        for (int d = 0; d < r->in[i].rank; d++) {
            int label = r->in[i].labels[d];

            r->uses[label]++;
            if (merge_length(r, label, xs[i]->shape[d], i) != ARRAS_OK)
                return r->err.code;
        }
    }
    return ARRAS_OK;
}

/* Without "->": the ellipsis, then every letter used just once, in alphabetical order (capitals
 * first). */
static void implicit_output(reader *r)
{
    static const char order[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    r->out.rank = 0;
    for (int k = r->spread - 1; k >= 0; k--)
        r->out.labels[r->out.rank++] = LETTERS + k;
    for (const char *c = order; *c; c++)
        if (r->uses[letter_number(*c)] == 1 && r->out.rank < ARRAS_MAX_RANK)
            r->out.labels[r->out.rank++] = letter_number(*c);
}

static arras_status explicit_output(reader *r, const char *from, const char *to)
{
    int  labels[2 * ARRAS_MAX_RANK], count;
    bool seen[LABELS] = { false };

    if (read_part(r, from, to, labels, &count) != ARRAS_OK ||
        spread_ellipsis(r, &r->out, labels, count, r->spread) != ARRAS_OK)
        return r->err.code;
    for (int d = 0; d < r->out.rank; d++) {
        int label = r->out.labels[d];

        if (r->uses[label] == 0)
            return fail(r, "the output names an index that no operand has");
        if (seen[label])
            return fail(r, "the output names an index twice");
        seen[label] = true;
    }
    return ARRAS_OK;
}

static arras_status read_spec(reader *r, const arras_array *xs)
{
    const char *arrow = strstr(r->spec, "->"), *end = arrow ? arrow : r->spec + strlen(r->spec);
    const char *from = r->spec;

    for (int i = 0; i < r->n; i++) {
        const char *comma = memchr(from, ',', (size_t)(end - from));

        if (!comma != (i == r->n - 1))
            return fail(r, comma ? "there are more parts than operands"
                                 : "there are fewer parts than operands");
        if (read_operand(r, i, from, comma ? comma : end, xs[i]) != ARRAS_OK)
            return r->err.code;
        from = comma ? comma + 1 : end;
    }
    if (collect(r, xs) != ARRAS_OK)
        return r->err.code;
    if (arrow)
        return explicit_output(r, arrow + 2, r->spec + strlen(r->spec));
    implicit_output(r);
    return ARRAS_OK;
}

/* ---- One spelling ---------------------------------------------------------------------------- */

typedef struct {
    int name[LABELS]; /* new number of a label, -1: none yet */
    int count;
} renaming;

static void print_subscript(ar_text *out, const subscript *s, renaming *names)
{
    for (int d = 0; d < s->rank; d++) {
        int *name = &names->name[s->labels[d]];
        char c;

        if (*name < 0)
            *name = names->count++;
        c = (char)(*name < 26 ? 'a' + *name : 'A' + *name - 26);
        ar_text_put(out, &c, 1);
    }
}

static bool print_spec(ar_text *out, const reader *r)
{
    renaming names = { .count = 0 };

    for (int i = 0; i < LABELS; i++)
        names.name[i] = -1;
    for (int i = 0; i < r->n; i++) {
        ar_text_add(out, i ? "," : "");
        print_subscript(out, &r->in[i], &names);
    }
    ar_text_add(out, "->");
    print_subscript(out, &r->out, &names);
    return names.count <= LETTERS;
}

static arras_array einsum_node(reader *r, const arras_array *xs)
{
    ar_type     type = ar_promote_nodes(r->n, xs);
    arras_dim   shape[ARRAS_MAX_RANK];
    ar_text     spec = { 0 };
    arras_array result;

    for (int d = 0; d < r->out.rank; d++)
        shape[d] = r->length[r->out.labels[d]];
    if ((result = ar_check_shape(r->g, "einsum", r->out.rank, shape)) ||
        (result = ar_check_untyped("einsum", r->n, xs, type.dtype)))
        return result;
    if (!print_spec(&spec, r))
        result = ar_poison(r->g, ARRAS_ELIMIT, "einsum \"%.200s\": more than %d different indices",
                           r->spec, LETTERS);
    else if (spec.failed)
        result = ar_poison_memory(r->g);
    else
        result = ar_intern(r->g, &(struct arras_node){ .kind = AR_EINSUM,
                                                       .type = { type.dtype, false },
                                                       .rank = r->out.rank,
                                                       .shape = shape,
                                                       .ninputs = r->n,
                                                       .inputs = xs,
                                                       .name = spec.data });
    ar_text_free(&spec);
    return result;
}

arras_array ar_einsum(const char *spec, int n, const arras_array *xs)
{
    arras_array bad = ar_check_inputs("einsum", n, xs), result;
    reader     *r;

    if (bad)
        return bad;
    if (!spec || n > MAX_OPERANDS)
        return ar_poison(xs[0]->graph, ARRAS_EINVAL,
                         "einsum: the spec is NULL, or there are more than %d operands",
                         MAX_OPERANDS);
    r = ar_alloc(1, sizeof *r);
    if (!r)
        return ar_poison_memory(xs[0]->graph);
    r->g = xs[0]->graph;
    r->spec = spec;
    r->n = n;
    for (int i = 0; i < LABELS; i++)
        r->length[i] = -1;
    result =
        read_spec(r, xs) == ARRAS_OK ? einsum_node(r, xs) : ar_poison_about(r->g, &r->err, n, xs);
    ar_free(r);
    return result;
}

bool ar_products_are_fused(arras_dtype dtype, int n, const arras_dim *lengths)
{
    int64_t terms = 1;

    for (int i = 0; i < n; i++)
        if (ar_dim_symbolic(lengths[i]) || !ar_mul64(&terms, terms, lengths[i]))
            return false;
    return n > 0 && ar_dtype_class(dtype) == AR_CLASS_REAL && terms <= AR_FOLD_SERIAL;
}
