/* Rows added to rows of a matrix one after the other, in NumPy's order, for positions that may repeat.

   BYTES, 4 for float or 8 for double, is defined before this text. */
#include <stdint.h>
#if BYTES == 4
typedef float real;
#else
typedef double real;
#endif

void add_rows(real *restrict total, const real *restrict values, const intptr_t *restrict places, long width, long count)
{
    for (long i = 0; i < count; i++) {
        real *restrict to = total + places[i] * width;
        const real *restrict from = values + i * width;
        for (long j = 0; j < width; j++) to[j] += from[j];
    }
}
