/* products.c -- matmul, dot, vdot, outer as einsums.
 * A library on top of the public header, and nothing else. */
#include <arras/arras.h>
#include <stdio.h>

static arras_array flat(arras_array x)
{
    arras_dim all = -1;

    return arras_array_rank(x) == 1 ? x : arras_reshape(x, 1, &all, 'C');
}

static arras_array einsum2(const char *spec, arras_array x, arras_array y)
{
    arras_array both[] = { x, y };

    return arras_einsum(spec, 2, both);
}

/* einsum lets an axis of length 1 stretch; matrix products do not. */
static arras_array check_inner(const char *what, arras_array x, int axis_x, arras_array y,
                               int axis_y)
{
    arras_dim a = arras_array_dim(x, axis_x), b = arras_array_dim(y, axis_y);
    char      text[160];

    if (a == b || arras_array_error(x) || arras_array_error(y))
        return NULL;
    snprintf(text, sizeof text,
             "%s: the last axis of the first array and axis %d of the second must be of one length",
             what, axis_y);
    if (!arras_dim_is_symbolic(a) && !arras_dim_is_symbolic(b))
        snprintf(text, sizeof text,
                 "%s: the last axis of the first array is %lld, but axis %d of the second is %lld",
                 what, (long long)a, axis_y, (long long)b);
    return arras_poison(arras_array_graph(x), ARRAS_ESHAPE, text);
}

arras_array arras_matmul(arras_array x, arras_array y)
{
    int         rank_x = arras_array_rank(x), rank_y = arras_array_rank(y);
    arras_array bad;

    if (rank_x < 0 || rank_y < 0)
        return arras_multiply(x, y); /* poison: hands the first message on */
    if (rank_x == 0 || rank_y == 0)
        return arras_poison(arras_array_graph(x), ARRAS_ESHAPE,
                            "matmul: an operand has rank 0: use multiply");
    if ((bad = check_inner("matmul", x, -1, y, rank_y == 1 ? -1 : -2)))
        return bad;
    if (rank_x == 1)
        return einsum2(rank_y == 1 ? "i,i->" : "j,...jk->...k", x, y);
    return einsum2(rank_y == 1 ? "...ij,j->...i" : "...ij,...jk->...ik", x, y);
}

/* "abz,cdzy->abcdy": every axis has a letter of its own but the two that meet. */
static arras_array dot_spec(arras_array x, arras_array y)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char              spec[4 * ARRAS_MAX_RANK], out[2 * ARRAS_MAX_RANK];
    int rank_x = arras_array_rank(x), rank_y = arras_array_rank(y), at = 0, nout = 0, next = 0;
    int inner_y = rank_y == 1 ? 0 : rank_y - 2;

    if (rank_x + rank_y - 2 > (int)sizeof letters - 1)
        return arras_poison(arras_array_graph(x), ARRAS_ELIMIT,
                            "dot: the arrays have too many axes together");
    for (int d = 0; d < rank_x - 1; d++)
        spec[at++] = out[nout++] = letters[next++];
    spec[at++] = 'z';
    spec[at++] = ',';
    for (int d = 0; d < rank_y; d++)
        spec[at++] = d == inner_y ? 'z' : (out[nout++] = letters[next++]);
    snprintf(spec + at, sizeof spec - (size_t)at, "->%.*s", nout, out);
    return einsum2(spec, x, y);
}

arras_array arras_dot(arras_array x, arras_array y)
{
    int         rank_x = arras_array_rank(x), rank_y = arras_array_rank(y);
    arras_array bad;

    if (rank_x <= 0 || rank_y <= 0) /* poison too */
        return arras_multiply(x, y);
    if ((bad = check_inner("dot", x, -1, y, rank_y == 1 ? -1 : -2)))
        return bad;
    return dot_spec(x, y);
}

arras_array arras_vdot(arras_array x, arras_array y)
{
    arras_array left = flat(x), right = flat(y), bad = check_inner("vdot", left, -1, right, -1);

    if (bad)
        return bad;
    if (arras_array_dtype(left) >= ARRAS_C64)
        left = arras_conj(left);
    return einsum2("i,i->", left, right);
}

arras_array arras_outer(arras_array x, arras_array y)
{
    return einsum2("i,j->ij", flat(x), flat(y));
}
