/* picture_font.c -- letters made of strokes, so that pictures look the same on every machine.
 *
 * A glyph is drawn on a grid of units: see `glyphs`.  The table covers
 * ASCII; any other character is drawn as a frame. */
#include "cmd/show/picture_canvas.h"

#include <string.h>

/* A point is two letters: across (a = 0, b = 1, ...) and up (a: below the line, f: on the line, p:
 * as high as an x, t: as high as a capital).  Points of a stroke follow one another, strokes are
 * separated by `/`.  A small first letter is a point that bends the stroke towards it: the control
 * point of a quadratic curve between its neighbours. */
enum { BASE = 5, HEIGHT = 20, GAP = 4, CURVE_PARTS = 6, FIRST = ' ', LAST = '~' };

static const struct {
    int         width;
    const char *strokes;
} glyphs[LAST - FIRST + 1] = {
    { 3, "" },                                            /*   */
    { 0, "AtAk/AfAf" },                                   /* ! */
    { 3, "AtAq/DtDq" },                                   /* " */
    { 10, "BfDt/GfIt/AoKo/AjJj" },                        /* # */
    { 8, "HqgtEtatApamEmimIiifEfbfAi/EvEd" },             /* $ */
    { 11, "AfLt/CtetErepCpapAratCt/JjljLhlfJfhfHhhjJj" }, /* % */
    { 10, "KfDodpDqdtFthtHqhoFnDmamAiafDfgfIl" },         /* & */
    { 0, "AtAq" },                                        /* ' */
    { 3, "DuapAkaeDb" },                                  /* ( */
    { 3, "AudpDkdeAb" },                                  /* ) */
    { 6, "DtDn/AsGo/AoGs" },                              /* * */
    { 8, "AkIk/EoEg" },                                   /* + */
    { 1, "BfAd" },                                        /* , */
    { 6, "AkGk" },                                        /* - */
    { 0, "AfAf" },                                        /* . */
    { 7, "AeHu" },                                        /* / */
    { 8, "EtitImifEfafAmatEt" },                          /* 0 */
    { 8, "CqFtFf" },                                      /* 1 */
    { 8, "ApatEtitIpinGlAfIf" },                          /* 2 */
    { 8, "AqatEtitIpimEmDm/EmimIiifEfafAh" },             /* 3 */
    { 8, "GfGtAjIj" },                                    /* 4 */
    { 8, "HtBtAlcoEoioIjifEfafAh" },                      /* 5 */
    { 8, "HqgtEtatAkafEfifIjinEnanAj" },                  /* 6 */
    { 8, "AtItDf" },                                      /* 7 */
    { 8, "EthtHphmEmbmBpbtEt/EmimIiifEfafAiamEm" },       /* 8 */
    { 8, "BicfEfifIoitEtatApalElilIp" },                  /* 9 */
    { 0, "AfAf/AnAn" },                                   /* : */
    { 1, "BfAd/BnBn" },                                   /* ; */
    { 8, "IpAkIf" },                                      /* < */
    { 8, "AmIm/AiIi" },                                   /* = */
    { 8, "ApIkAf" },                                      /* > */
    { 6, "ApatDtgtGpgmDlDj/DfDf" },                       /* ? */
    { 12, "JnhqGqdqDmdiGiiiJnjiKimiMmmtGtatAlaeGejeKf" }, /* @ */
    { 10, "AfFtKf/CkIk" },                                /* A */
    { 9, "AfAtEtitIpimEmAm/EmjmJijfEfAf" },               /* B */
    { 9, "JqitFtatAmafFfifJi" },                          /* C */
    { 9, "AfAtEtjtJmjfEfAf" },                            /* D */
    { 8, "ItAtAfIf/AmHm" },                               /* E */
    { 8, "ItAtAf/AmHm" },                                 /* F */
    { 9, "JqitFtatAmafFfjfJkJlGl" },                      /* G */
    { 9, "AtAf/JtJf/AmJm" },                              /* H */
    { 0, "AtAf" },                                        /* I */
    { 6, "GtGjgfDfafAj" },                                /* J */
    { 8, "AtAf/ItAl/DoIf" },                              /* K */
    { 7, "AtAfHf" },                                      /* L */
    { 12, "AfAtGjMtMf" },                                 /* M */
    { 9, "AfAtJfJt" },                                    /* N */
    { 10, "FtktKmkfFfafAmatFt" },                         /* O */
    { 9, "AfAtEtjtJpjlElAl" },                            /* P */
    { 10, "FtktKmkfFfafAmatFt/GjKe" },                    /* Q */
    { 9, "AfAtEtjtJpjlElAl/FlJf" },                       /* R */
    { 8, "HqgtEtatApamEmimIiifEfbfAi" },                  /* S */
    { 10, "AtKt/FtFf" },                                  /* T */
    { 9, "AtAkafEfjfJkJt" },                              /* U */
    { 10, "AtFfKt" },                                     /* V */
    { 16, "AtEfIsMfQt" },                                 /* W */
    { 9, "AtJf/AfJt" },                                   /* X */
    { 10, "AtFmKt/FmFf" },                                /* Y */
    { 9, "AtJtAfJf" },                                    /* Z */
    { 3, "DuAuAcDc" },                                    /* [ */
    { 7, "AuHe" },                                        /* \ */
    { 3, "AuDuDcAc" },                                    /* ] */
    { 8, "ApEtIp" },                                      /* ^ */
    { 8, "AdId" },                                        /* _ */
    { 2, "AtCq" },                                        /* ` */
    { 8, "IkipEpapAkafEfifIk/IpIf" },                     /* a */
    { 8, "AtAf/AkapEpipIkifEfafAk" },                     /* b */
    { 7, "HngpEpapAkafEfgfHh" },                          /* c */
    { 8, "ItIf/IkipEpapAkafEfifIk" },                     /* d */
    { 8, "AkIkipEpapAkafEfgfHh" },                        /* e */
    { 5, "FtctCqCf/ApFp" },                               /* f */
    { 8, "IpIdiaEabaAb/IkipEpapAkafEfifIk" },             /* g */
    { 8, "AtAf/AlapEpipIlIf" },                           /* h */
    { 0, "ApAf/AtAt" },                                   /* i */
    { 2, "CpCdcaAa/CtCt" },                               /* j */
    { 7, "AtAf/HpAj/DlHf" },                              /* k */
    { 2, "AtAhafCf" },                                    /* l */
    { 12, "ApAf/AlapDpgpGlGf/GlgpJpmpMlMf" },             /* m */
    { 8, "ApAf/AlapEpipIlIf" },                           /* n */
    { 8, "EpipIkifEfafAkapEp" },                          /* o */
    { 8, "ApAa/AkapEpipIkifEfafAk" },                     /* p */
    { 8, "IpIa/IkipEpapAkafEfifIk" },                     /* q */
    { 5, "ApAf/AlapEpFp" },                               /* r */
    { 6, "GnfpDpapAmakDkgkGigfDfbfAh" },                  /* s */
    { 5, "CsChcfFf/ApFp" },                               /* t */
    { 8, "ApAjafEfifIj/IpIf" },                           /* u */
    { 8, "ApEfIp" },                                      /* v */
    { 12, "ApDfGoJfMp" },                                 /* w */
    { 7, "ApHf/AfHp" },                                   /* x */
    { 8, "ApEf/IpDccaAa" },                               /* y */
    { 7, "ApHpAfHf" },                                    /* z */
    { 4, "EuCuCockAkckCgCbEb" },                          /* { */
    { 0, "AuAb" },                                        /* | */
    { 4, "AuCuCockEkckCgCbAb" },                          /* } */
    { 8, "AjbmEkhiIl" },                                  /* ~ */
};
static const char frame[] = "AfAtHtHfAf";
enum { FRAME_WIDTH = 7 };

typedef struct {
    cmd_point   at; /* the left end of the base line of the glyph */
    double      unit;
    cmd_stroke *visit;
    void       *user;
} pen;

static cmd_point grid_point(const pen *p, const char *letters)
{
    int across = letters[0] >= 'a' ? letters[0] - 'a' : letters[0] - 'A', up = letters[1] - 'a';

    return (cmd_point){ p->at.x + across * p->unit, p->at.y - (up - BASE) * p->unit };
}

static cmd_point on_curve(cmd_point a, cmd_point bend, cmd_point b, double t)
{
    double s = 1 - t;

    return (cmd_point){ s * s * a.x + 2 * s * t * bend.x + t * t * b.x,
                        s * s * a.y + 2 * s * t * bend.y + t * t * b.y };
}

static void draw_curve(const pen *p, cmd_point from, cmd_point bend, cmd_point to)
{
    cmd_point last = from;

    for (int i = 1; i <= CURVE_PARTS; i++) {
        cmd_point next = on_curve(from, bend, to, (double)i / CURVE_PARTS);

        p->visit(p->user, last.x, last.y, next.x, next.y);
        last = next;
    }
}

/* A bend always stands between two points of the curve: the table is written so. */
static void draw_glyph(const pen *p, const char *s)
{
    while (*s) {
        cmd_point from = grid_point(p, s);

        for (s += 2; *s && *s != '/'; s += 2) {
            bool      bent = *s >= 'a';
            cmd_point bend = grid_point(p, s), to = bent ? grid_point(p, s += 2) : bend;

            if (bent)
                draw_curve(p, from, bend, to);
            else
                p->visit(p->user, from.x, from.y, to.x, to.y);
            from = to;
        }
        s += *s == '/';
    }
}

/* The next character, as strokes: those of a frame for what is not ASCII. */
static const char *next_glyph(const char **text, int *width)
{
    unsigned char c = (unsigned char)*(*text)++;

    if (c >= FIRST && c <= LAST) {
        *width = glyphs[c - FIRST].width;
        return glyphs[c - FIRST].strokes;
    }
    while (((unsigned char)**text & 0xc0) == 0x80) /* the rest of a character of UTF-8 */
        (*text)++;
    *width = FRAME_WIDTH;
    return frame;
}

void cmd_text_walk(const char *text, cmd_point at, double size, cmd_stroke *visit, void *user)
{
    pen p = { at, size / HEIGHT, visit, user };
    int width;

    while (*text) {
        draw_glyph(&p, next_glyph(&text, &width));
        p.at.x += (width + GAP) * p.unit;
    }
}

double cmd_text_width(const char *text, double size)
{
    int units = 0, width;

    while (*text) {
        next_glyph(&text, &width);
        units += width + GAP;
    }
    return units > 0 ? (units - GAP) * size / HEIGHT : 0;
}
