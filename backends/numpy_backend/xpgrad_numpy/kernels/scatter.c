/* Rows added to rows of matrices one after the other, in NumPy's order, for positions that may repeat.

   BYTES, 4 for float or 8 for double, is defined before this text. */
#include <stdint.h>
#if BYTES == 4
typedef float real;
#else
typedef double real;
#endif

#define LINES 8 /* numbers along the last axis wait for those before them: those of several matrices do not */

void add_rows(real *restrict total, const real *restrict values, const intptr_t *restrict places, long width, long count,
    long rows, long matrices)
{
    for (; width == 1 && matrices >= LINES; matrices -= LINES, total += LINES * rows, values += LINES * count)
        for (long i = 0; i < count; i++)
            for (int m = 0; m < LINES; m++) total[m * rows + places[i]] += values[m * count + i];
    for (long m = 0; m < matrices; m++, total += rows * width)
        for (long i = 0; i < count; i++, values += width) {
            real *restrict to = total + places[i] * width;
            for (long j = 0; j < width; j++) to[j] += values[j];
        }
}
