/* lang.h -- the language: from the text of a program to a graph of the library.
 * Owns the parsed program; sees <arras/arras.h> only.
 *
 * A program is parsed once (lang_program_add) and lowered for inputs whose types and shapes are
 * known (lang_lower).  Between the two it can be asked which names it needs and what it makes. */
#ifndef LANG_LANG_H
#define LANG_LANG_H

#include <arras/arras.h>

#define LANG_MAX_DEPTH 200 /* brackets in brackets */

/* The caller's own; written only on failure.  Several lines: place and message, the line of the
 * program, a caret below it.  No newline at the end. */
typedef struct lang_error {
    char text[4096];
} lang_error;

typedef struct lang_program lang_program;

/* NULL when out of memory. */
lang_program *lang_program_new(void);
void          lang_program_free(lang_program *p);

/* Adds statements.  `file` names the text in messages.  On failure the program is as it was. */
bool lang_program_add(lang_program *p, const char *file, const char *text, size_t length,
                      lang_error *err);
/* Whether `text` ends inside a bracket or after an operator, so that another line must follow. */
bool lang_is_unfinished(const char *text, size_t length);
/* Forgets equations and bare expressions; edges, params, lets and functions stay. */
void lang_program_forget_results(lang_program *p);
/* Takes back the last lang_program_add, also what it replaced and what was forgotten since. */
void lang_program_undo(lang_program *p);

/* Names in order of first appearance; valid until the program changes.  NULL when out of range.
 * Inputs: used, and defined by nobody; or used in their own definition. */
const char *lang_program_input(const lang_program *p, int i);
const char *lang_program_output(const lang_program *p, int i);
const char *lang_program_param(const lang_program *p, int i);
/* What the last lang_program_add defines anew with the help of itself: `a` in `a = a + 1` when
 * something defined a before.  It is an input now; the old value is the program's before that. */
const char *lang_program_renewed(const lang_program *p, int i);
/* The lets of the last lang_program_add. */
const char *lang_program_let(const lang_program *p, int i);
/* Whether something reads this name that nobody defines: an input, or a constant such as `e`, which
 * an input of that name hides. */
bool lang_program_reads(const lang_program *p, const char *name);

/* The error for an input that is not there: points at its first use and suggests what might be
 * meant, or else says `advice`. */
void lang_program_missing(const lang_program *p, const char *name, const char *advice,
                          lang_error *err);

typedef struct lang_input {
    const char    *name;
    arras_dtype    dtype;
    int            rank;
    const int64_t *shape;
} lang_input;
typedef struct lang_setting { /* replaces the value of a param */
    const char *name;
    const char *value; /* a constant expression of the language */
} lang_setting;
typedef struct lang_world {
    int                 ninputs;
    const lang_input   *inputs; /* every name here may be used; not all need be */
    int                 nsettings;
    const lang_setting *settings;
    int                 noutputs; /* 0: those of the program */
    const char *const  *outputs;
} lang_world;

/* A new graph with a placeholder for each input that is used and every output named; the caller
 * frees it. */
bool lang_lower(arras_graph **out, const lang_program *p, const lang_world *world, lang_error *err);

/* What can be called: for completion and help. */
typedef struct lang_function_info {
    const char *name;
    const char *usage; /* "roll(x, shift, axis=all)" */
    const char *text;  /* one line of help */
} lang_function_info;
/* In alphabetical order; NULL when out of range. */
const lang_function_info *lang_function_at(int i);
const char               *lang_keyword_at(int i);

/* A constant of the language as data: 3.5, [1,2,3], 1+2j, f32([[1],[2]]).  The caller frees *data
 * with free(); shape has ARRAS_MAX_RANK places. */
bool lang_constant(void **data, arras_dtype *dtype, int *rank, int64_t *shape, const char *file,
                   const char *text, size_t length, lang_error *err);

#endif
