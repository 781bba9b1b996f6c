/* Convolutions of images, their transposes, and the gradient of the filters, by direct loops.

   BYTES, 4 for float or 8 for double, is defined before this text, and WIDTH, 64, for vectors of AVX-512. One group of channels of an image at a time is copied into
   zeros; a few outputs times a few vectors of its rows stay in registers over all channels and all elements of a window.
   Every function computes a range of groups of images, or of chunks of images, so that threads can share them: no
   result depends on how.

   GCC reads a vector from memory again for each product unless KEEP holds it in a register, which costs a third. */
#include <stdlib.h>
#include <string.h>

#if BYTES == 4
typedef float real;
typedef int mask;
#else
typedef double real;
typedef long mask;
#endif
#if defined(WIDTH)
#elif defined(__AVX__)
#define WIDTH 32 /* bytes; of 64, half would be wasted where rows of images do not fill them */
#else
#define WIDTH 16
#endif
#define V (WIDTH / BYTES)
#if defined(__AVX512F__)
#define KEEP(v) __asm__("" : "+v"(v))
#elif defined(__x86_64__)
#define KEEP(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define KEEP(v) __asm__("" : "+w"(v))
#else
#define KEEP(v)
#endif
typedef real vec __attribute__((vector_size(WIDTH)));
typedef mask lanes __attribute__((vector_size(WIDTH)));
typedef real loose __attribute__((vector_size(WIDTH), aligned(BYTES), may_alias));
#define LOAD(p) (*(const loose *)(p))
#define STORE(p, v) (*(loose *)(p) = (v))
#define EACH(i, n) _Pragma("GCC unroll 16") for (int i = 0; i < (n); i++)

/* Strides are of elements, and may be 0 or negative; outputs are in order. Columns of the copy lie `step_x` apart in
   rows of `pitch`: all those with one remainder in a part of `part`, so that windows side by side read vectors. */
struct shape {
    long groups, channels, outs, height, width, pad_y, pad_x, step_y, step_x, rows, part;
    long y_plane, y_row, y_column, elements, phases;
    long image, channel, row, column;
    long g_image, g_channel, g_row, g_column;
    long count, chunks;
};
/* Outputs from `start` on, and the first of their elements in the table of places in the copy: there are several phases
   in the transpose of a convolution with strides, each with its own part of a window. */
struct phase {
    long elements, first, height, width, start;
};

/* Whether the processor has vectors of 64 bytes. */
int wide(void)
{
#if defined(__AVX512F__)
    return 1;
#else
    return 0;
#endif
}

static real *room(long count) { return aligned_alloc(64, (BYTES * count + 63) / 64 * 64 + 64); }
static long round_up(long n) { return (n + V - 1) / V * V; }
static long least(long a, long b) { return a < b ? a : b; }

/* Copy planes into zeros: `height` rows of `width` elements from (top, left) on, in `rows` rows of `parts` parts. */
static void padded(const real *x, long planes, long plane, long row, long column, long height, long width, long top,
    long left, real *to, long rows, long parts, long part)
{
    for (long k = 0; k < parts; k++) {
        long first = left > k ? least((left - k + parts - 1) / parts, part) : 0, apart = parts * column;
        long last = width + left > k ? least((width + left - k + parts - 1) / parts, part) : 0;
        last = last < first ? first : last;
        for (long i = 0; i < planes; i++)
            for (long r = 0; r < rows; r++) {
                real *line = to + ((i * rows + r) * parts + k) * part;
                const real *from = x + i * plane + (r - top) * row + (first * parts + k - left) * column;
                if (r < top || r - top >= height) {
                    memset(line, 0, BYTES * part);
                    continue;
                }
                memset(line, 0, BYTES * first);
                if (apart == 1) memcpy(line + first, from, BYTES * (last - first));
                else
                    for (long j = first; j < last; j++, from += apart) line[j] = *from;
                memset(line + last, 0, BYTES * (part - last));
            }
    }
}

static void group_of(const struct shape *s, const real *x, long image, long group, real *to)
{
    padded(x + image * s->image + group * s->channels * s->channel, s->channels, s->channel, s->row, s->column, s->height,
        s->width, s->pad_y, s->pad_x, to, s->rows, s->step_x, s->part);
}

/* OB outputs at PV vectors of an image, which are `step` apart, as those of the outputs are `y_step`; the weights are
   (channel, element, OB). */
#define TILE(OB, PV)                                                                                                   \
    static void tile_##OB##_##PV(const real *x, long channels, long plane, const long *places, long elements,          \
        const real *w, const real *b, real *y, long y_plane, long step, long y_step, long left, long less)             \
    {                                                                                                                  \
        vec sum[OB][PV];                                                                                               \
        EACH(o, OB) EACH(p, PV) sum[o][p] = (vec){};                                                                   \
        for (long i = 0; i < channels; i++, x += plane)                                                                \
            _Pragma("GCC unroll 3") for (long k = 0; k < elements; k++, w += OB) {                                     \
                vec at[PV];                                                                                            \
                EACH(p, PV) at[p] = LOAD(x + places[k] + p * step);                                                    \
                EACH(p, PV) KEEP(at[p]);                                                                               \
                EACH(o, OB) EACH(p, PV) sum[o][p] += w[o] * at[p];                                                     \
            }                                                                                                          \
        if (b) EACH(o, OB) EACH(p, PV) sum[o][p] += b[o];                                                              \
        EACH(o, OB) EACH(p, PV)                                                                                        \
        {                                                                                                              \
            real *to = y + o * y_plane + p * y_step;                                                                   \
            long n = left - p * less;                                                                                  \
            if (n >= V) STORE(to, sum[o][p]);                                                                          \
            else                                                                                                       \
                for (long j = 0; j < n; j++) to[j] = sum[o][p][j];                                                     \
        }                                                                                                              \
    }
typedef void tile(const real *, long, long, const long *, long, const real *, const real *, real *, long, long, long, long,
    long);
#define BLOCK 6 /* outputs: 12 sums hide the latency of products and leave four of 16 registers */
#define TILES(PV) TILE(1, PV) TILE(2, PV) TILE(3, PV) TILE(4, PV) TILE(5, PV) TILE(6, PV)
TILES(1)
TILES(2)
static tile *const tiles[2][BLOCK + 1] = {{0, tile_1_1, tile_2_1, tile_3_1, tile_4_1, tile_5_1, tile_6_1},
    {0, tile_1_2, tile_2_2, tile_3_2, tile_4_2, tile_5_2, tile_6_2}};

static long blocks_of(long outs) { return (outs + BLOCK - 1) / BLOCK; }
static long cut(long outs, long block) { return outs * block / blocks_of(outs); }

/* Filters (groups, outs, count) of one phase in the order in which tiles use them. */
void pack(const real *w, long groups, long outs, long count, real *to)
{
    for (long group = 0; group < groups; group++, w += outs * count)
        for (long block = 0; block < blocks_of(outs); block++)
            for (long i = 0; i < count; i++)
                for (long o = cut(outs, block); o < cut(outs, block + 1); o++) *to++ = w[o * count + i];
}

/* Sums of products at the places of each phase for groups of images from `first` to before `last`; 0 if there is no
   memory. */
int convolve(const struct shape *s, const struct phase *phases, const long *places, const real *x, const real *packed,
    const real *b, real *y, long first, long last)
{
    long pitch = s->step_x * s->part, plane = s->rows * pitch, line = s->part + V;
    real *image = room(s->channels * plane + V), *lines = room(2 * BLOCK * line);
    int dense = s->y_column == 1, done = image && lines;
    for (long number = first; done && number < last; number++) {
        long group = number % s->groups;
        group_of(s, x, number / s->groups, group, image);
        for (const struct phase *f = phases; f < phases + s->phases; f++) {
            int narrow = f->width <= V; /* two vectors are of two rows */
            for (long r = 0, many; r < f->height; r += 1 + many) {
                many = narrow && r + 1 < f->height;
                for (long block = 0; block < blocks_of(s->outs); block++) {
                    long o = cut(s->outs, block), outs = cut(s->outs, block + 1) - o, each = s->channels * f->elements;
                    const real *w = packed + s->groups * s->outs * s->channels * f->first + (group * s->outs + o) * each;
                    real *to = y + (number * s->outs + o) * s->y_plane + f->start + r * s->y_row;
                    real *into = dense ? to : lines;
                    for (long p = 0; p < f->width;) {
                        int two = many || (!narrow && f->width - p > V);
                        tiles[two][outs](image + r * s->step_y * pitch + p, s->channels, plane, places + f->first,
                            f->elements, w, b ? b + group * s->outs + o : 0, into + p, dense ? s->y_plane : 2 * line,
                            many ? s->step_y * pitch : V, many ? (dense ? s->y_row : line) : V, f->width - p, many ? 0 : V);
                        p += two && !many ? 2 * V : V;
                    }
                    for (long k = 0; !dense && k < outs; k++)
                        for (long m = 0; m <= many; m++)
                            for (long j = 0; j < f->width; j++)
                                to[k * s->y_plane + m * s->y_row + j * s->y_column] = lines[(2 * k + m) * line + j];
                }
            }
        }
    }
    free(image), free(lines);
    return done;
}

/* Sums over an image of a few elements of the windows on one channel times GB outputs, lane by lane. */
#define SUMS(GB, E)                                                                                                    \
    static void sums_##GB##_##E(const real *x, const long *places, long pitch, const real *g, long g_plane,            \
        long g_pitch, long height, long width, const lanes *end, real *sums, long step)                                \
    {                                                                                                                  \
        long whole = width / V * V;                                                                                    \
        vec sum[GB][E];                                                                                                \
        EACH(o, GB) EACH(k, E) sum[o][k] = LOAD(sums + o * step + k * V);                                              \
        for (long r = 0; r < height; r++, x += pitch, g += g_pitch)                                                    \
            for (long p = 0; p < width; p += V) {                                                                      \
                vec at[E];                                                                                             \
                EACH(k, E) at[k] = LOAD(x + places[k] + p);                                                            \
                if (p == whole) EACH(k, E) at[k] = (vec)((lanes)at[k] & *end); /* no infinity times 0 */               \
                EACH(k, E) KEEP(at[k]);                                                                                \
                EACH(o, GB)                                                                                            \
                {                                                                                                      \
                    vec given = LOAD(g + o * g_plane + p);                                                             \
                    KEEP(given);                                                                                       \
                    EACH(k, E) sum[o][k] += given * at[k];                                                             \
                }                                                                                                      \
            }                                                                                                          \
        EACH(o, GB) EACH(k, E) STORE(sums + o * step + k * V, sum[o][k]);                                              \
    }
typedef void adder(const real *, const long *, long, const real *, long, long, long, long, const lanes *, real *, long);
#define MANY 4 /* outputs whose sums stay in registers, of which there are 32 with AVX-512, else 16 */
#if defined(__AVX512F__)
#define MOST 5 /* elements */
#else
#define MOST 3
#endif
#define ADDERS(E) SUMS(1, E) SUMS(2, E) SUMS(3, E) SUMS(4, E)
#define NAMES(E) {0, sums_1_##E, sums_2_##E, sums_3_##E, sums_4_##E}
ADDERS(1)
ADDERS(2)
ADDERS(3)
#if MOST == 5
ADDERS(4)
ADDERS(5)
static adder *const adders[][MANY + 1] = {{0}, NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5)};
#else
static adder *const adders[][MANY + 1] = {{0}, NAMES(1), NAMES(2), NAMES(3)};
#endif

/* Sums over the images of chunks of windows times `g`, (chunks, groups, outs, channels, elements), for chunks from
   `first` to before `last`; 0 if there is no memory. */
int filter_backward(const struct shape *s, const struct phase *f, const long *places, const real *x, const real *g,
    real *parts, long first, long last)
{
    long pitch = s->step_x * s->part, area = s->rows * pitch, g_pitch = round_up(f->width), n = f->elements;
    long step = s->channels * n * V, size = s->groups * s->outs * s->channels * n, plane = f->height * g_pitch;
    int copied = g_pitch != f->width || s->g_column != 1 || s->g_row != f->width || s->g_channel != plane;
    real *image = room(s->channels * area + V), *sums = room(size * V), *given = copied ? room(s->outs * plane) : 0;
    int done = image && sums && (given || !copied);
    long pieces = (n + MOST - 1) / MOST;
    lanes end;
    for (int j = 0; j < V; j++) end[j] = -(j < f->width % V);
    for (long chunk = first; done && chunk < last; chunk++) {
        memset(sums, 0, BYTES * size * V);
        for (long i = s->count * chunk / s->chunks; i < s->count * (chunk + 1) / s->chunks; i++)
            for (long group = 0; group < s->groups; group++) {
                const real *from = g + i * s->g_image + group * s->outs * s->g_channel;
                real *to = sums + group * s->outs * step;
                group_of(s, x, i, group, image);
                if (copied) {
                    padded(from, s->outs, s->g_channel, s->g_row, s->g_column, f->height, f->width, 0, 0, given, f->height,
                        1, g_pitch);
                    from = given;
                }
                for (long o = 0; o < s->outs; o += MANY)
                    for (long c = 0; c < s->channels; c++)
                        for (long piece = 0; piece < pieces; piece++) {
                            long k = n * piece / pieces, next = n * (piece + 1) / pieces;
                            adders[next - k][least(s->outs - o, MANY)](image + c * area, places + k, s->step_y * pitch,
                                from + o * plane, plane, g_pitch, f->height, f->width, &end,
                                to + o * step + (c * n + k) * V, step);
                        }
            }
        for (long k = 0; k < size; k++) {
            real total = sums[k * V];
            for (int j = 1; j < V; j++) total += sums[k * V + j];
            parts[chunk * size + k] = total;
        }
    }
    free(image), free(sums), free(given);
    return done;
}
