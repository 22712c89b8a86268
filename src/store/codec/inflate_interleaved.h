/* inflate_interleaved.h -- up to three deflate streams (RFC 1951) decoded at once by one thread.
 * What one stream costs is the time from one lookup to the next, which waits for it; others fill
 * it. */
#ifndef AR_INFLATE_INTERLEAVED_H
#define AR_INFLATE_INTERLEAVED_H

#include <stdbool.h>
#include <stddef.h>

enum { AR_INFLATE_STREAMS = 3 }; /* at most at once */

typedef struct {
    const unsigned char *in;
    size_t               n;
    unsigned char       *out; /* may be written anywhere, even if all is not well */
    size_t               room;
    size_t               used, made; /* bytes of both, where it is done */
    bool                 done; /* false: nothing is known of it, not even that it is bad */
} ar_inflate_stream;

/* Of the bytes before and after a stream, and of checksums, the caller knows. */
void ar_inflate_interleaved(ar_inflate_stream *streams, int count);

#endif
