/* trees.h -- the order in which the cells of a reduction are combined.  It depends on nothing but
 * their number, so that any number of threads and every device can give the same bits.
 *
 * Up to AR_FOLD_SERIAL cells: one after the other.  More: in blocks of AR_FOLD_BLOCK, the last may
 * be shorter.  Cell i of a block goes to lane i % AR_FOLD_LANES, which combines its cells one after
 * the other; then the upper half of the lanes is combined with the lower half, until one is left.
 * Blocks are combined in the binary tree that splits them at the largest power of two below their
 * number, and each part again, which is how a binary counter counts them: it has AR_FOLD_DEPTH
 * digits.  The earlier cells are always the left operand.
 *
 * A large product of matrices of reals adds its terms in blocks of AR_PRODUCT_TERMS, one after the
 * other, each rounded once, and then the blocks in order.
 *
 * Sums and products of reals up to each cell of a line longer than AR_FOLD_SERIAL: in groups of
 * AR_SCAN_GROUP, whose cells are joined with the one before, then with the one two before, then
 * four (AR_SCAN_STEPS times); groups one after the other within blocks of AR_SCAN_BLOCK, and blocks
 * one after the other.
 *
 * These numbers are meaning (docs/semantics.md): they stand here only, and kernels begin with them.
 */
enum {
    AR_FOLD_SERIAL = 64,
    AR_FOLD_LANES = 16,
    AR_FOLD_BLOCK = 1024,
    AR_FOLD_DEPTH = 54, /* bits of 2^64 / AR_FOLD_BLOCK */
    AR_PRODUCT_TERMS = 256,
    AR_SCAN_STEPS = 3,
    AR_SCAN_GROUP = 8,
    AR_SCAN_BLOCK = 8192
};
