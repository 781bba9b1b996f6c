/* Cumulative sums and products in NumPy's order: of several rows at once, as each result waits for the one before.

   BYTES, 4 for float or 8 for double, is defined before this text. Arrays have the shape (rows, n, inner); `step` is -1 if
   `x` is read from its end, else 1. A function computes a range of rows, so that threads can share them. */
#if BYTES == 4
typedef float real;
#else
typedef double real;
#endif
#include <stdlib.h>
#define ROWS 8

#define SCAN(NAME, OP)                                                                                                 \
    static inline __attribute__((always_inline)) void NAME##_rows(const real *restrict x, real *restrict y, long n,    \
        long step, const int rows)                                                                                     \
    {                                                                                                                  \
        real last[ROWS];                                                                                               \
        for (int r = 0; r < rows; r++) y[r * n] = last[r] = x[r * n];                                                  \
        for (long j = 1; j < n; j++)                                                                                   \
            for (int r = 0; r < rows; r++) y[r * n + j] = last[r] = last[r] OP x[r * n + j * step];                    \
    }                                                                                                                  \
    int NAME(const real *restrict x, real *restrict y, long n, long inner, long step, long first, long last)           \
    {                                                                                                                  \
        for (; inner == 1 && first + ROWS <= last; first += ROWS) NAME##_rows(x + first * n, y + first * n, n, step, ROWS); \
        for (; inner == 1 && first < last; first++) NAME##_rows(x + first * n, y + first * n, n, step, 1);             \
        for (; first < last; first++) {                                                                                \
            const real *restrict from = x + first * n * inner;                                                         \
            real *restrict to = y + first * n * inner;                                                                 \
            for (long i = 0; i < inner; i++) to[i] = from[i];                                                          \
            for (long j = 1; j < n; j++)                                                                               \
                for (long i = 0; i < inner; i++)                                                                       \
                    to[j * inner + i] = to[(j - 1) * inner + i] OP from[j * step * inner + i];                         \
        }                                                                                                              \
        return 1;                                                                                                      \
    }
SCAN(add, +)
SCAN(multiply, *)

/* `g` of each row times the products of all other elements of the row, by a tree of pairwise products: level by level
   upwards, then down to the elements. 0 if there is no memory. */
int others(const real *restrict x, const real *restrict g, real *restrict y, long n, long first, long last)
{
    real *tree = malloc(sizeof(real) * (3 * n + 64)), *outside = tree + 2 * n + 64;
    if (!tree) return 0;
    for (; first < last; first++) {
        long sizes[64], depth = 0, count = n;
        real *level = tree, *to = y + first * n;
        for (long i = 0; i < n; i++) level[i] = x[first * n + i];
        for (; count > 1; sizes[depth++] = count, level += count, count = (count + 1) / 2)
            for (long i = 0, half = (count + 1) / 2; i < half; i++)
                level[count + i] = half + i < count ? level[i] * level[half + i] : level[i];
        to[0] = 1;
        while (depth--) {
            const long half = (sizes[depth] + 1) / 2, pairs = sizes[depth] / 2;
            level -= sizes[depth];
            for (long i = 0; i < half; i++) outside[i] = to[i];
            for (long i = 0; i < pairs; i++) {
                to[i] = outside[i] * level[half + i];
                to[half + i] = outside[i] * level[i];
            }
        }
        for (long i = 0; i < n; i++) to[i] *= g[first];
    }
    free(tree);
    return 1;
}

/* Replace u of n elements by s, where s[0] = u[0] and s[i] = u[i] + r[i] * s[i - 1], in the blocks of 8 in which the rule of
   the cumulative product computes it. Both have room for a multiple of 8 elements; `memory` for twice as many. */
#define BLOCK 8
static void recurrence(real *u, real *r, long n, real *memory)
{
    if (n <= BLOCK) {
        for (long k = 1; k < n; k++) u[k] = u[k] + r[k] * u[k - 1];
        return;
    }
    const long blocks = (n + BLOCK - 1) / BLOCK, room = (blocks + BLOCK - 1) / BLOCK * BLOCK;
    real *products = memory, *last = memory + blocks * BLOCK, *factors = last + room;
    for (long k = n; k < blocks * BLOCK; k++) u[k] = r[k] = 0;
    for (long b = 0; b < blocks; b++) {
        real *const own = u + b * BLOCK, *const p = products + b * BLOCK;
        const real *const by = r + b * BLOCK;
        p[0] = by[0];
        for (int k = 1; k < BLOCK; k++) {
            own[k] = own[k] + by[k] * own[k - 1];
            p[k] = by[k] * p[k - 1];
        }
        last[b] = own[BLOCK - 1];
        factors[b] = p[BLOCK - 1];
    }
    recurrence(last, factors, blocks - 1, factors + room);
    for (long b = 0; b < blocks; b++) {
        const real carried = b ? last[b - 1] : 0;
        for (int k = 0; k < BLOCK; k++) u[b * BLOCK + k] = u[b * BLOCK + k] + products[b * BLOCK + k] * carried;
    }
}

/* The gradient of the cumulative product of each row: the product of the elements before one times the sum of the
   cotangents from it on, each times the elements between. 0 if there is no memory. */
int cumulative_prod_backward(const real *restrict x, const real *restrict g, real *restrict y, long n, long first, long last)
{
    const long room = (n + BLOCK - 1) / BLOCK * BLOCK;
    real *u = malloc(sizeof(real) * (4 * room + 512)), *r = u + room;
    if (!u) return 0;
    for (; first < last; first++) {
        const real *const from = x + first * n, *const given = g + first * n;
        real *const to = y + first * n;
        for (long i = 0; i < n; i++) u[i] = given[n - 1 - i];
        r[0] = 1;
        for (long i = 1; i < n; i++) r[i] = from[n - i];
        recurrence(u, r, n, r + room);
        real before = 1;
        for (long i = 0; i < n; i++) {
            to[i] = before * u[n - 1 - i];
            before = before * from[i];
        }
    }
    free(u);
    return 1;
}
