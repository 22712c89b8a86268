/* dgfem_hand.h -- right-hand sides as one would write them by hand: all of an element in one go. */
#ifndef DGFEM_HAND_H
#define DGFEM_HAND_H

#include "../../examples/dgfem/dgfem.h"

/* Matrices with rows and columns exchanged, so that the innermost loop runs along memory. */
typedef struct {
    double stiffness[3 * DG_MOST_NODES * DG_MOST_NODES];                /* (3, n, m) */
    double inverse_mass[DG_MOST_NODES * DG_MOST_NODES];                 /* (n, m) */
    double face_mass[DG_CORNERS * DG_MOST_FACE_NODES * DG_MOST_NODES]; /* (4, k, m) */
} hand_matrices;

void hand_prepare(hand_matrices *out, const dg_element *element);
/* rates and fields: arrays of (E, Np). */
void hand_wave(double *const *rates, double *const *fields, const dg_problem *p,
               const hand_matrices *matrices, int threads);
void hand_euler(double *const *rates, double *const *fields, const dg_problem *p,
                const hand_matrices *matrices, int threads);

#endif
