/* Convolutions of pictures with K x K filters, stride 1, and the gradient of the filters, by direct loops.

   BYTES, 4 for float or 8 for double, and K are defined before this text. One picture at a time is copied into zeros; a few outputs
   times a few vectors of its rows stay in registers over all channels and all elements of a window. Every function
   computes a range of pictures, or of chunks of them, so that threads can share them: no result depends on how.

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
#if defined(__AVX__)
#define WIDTH 32 /* bytes; of 64, as few pictures have rows that fill them, half would be wasted */
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

/* Strides are of elements, and may be 0 or negative; outputs are in order. */
struct shape {
    long channels, height, width, pad_y, pad_x, outs, out_height, out_width;
    long image, channel, row, column;
    long g_image, g_channel, g_row, g_column;
    long count, chunks;
};

static real *room(long count) { return aligned_alloc(64, (BYTES * count + 63) / 64 * 64 + 64); }
static long round_up(long n) { return (n + V - 1) / V * V; }
static long pitch_of(const struct shape *s) { return round_up(s->out_width + K - 1) + V; }

/* Copy planes into zeros: `height` rows of `width` elements from (top, left) on, in `rows` rows of `pitch`. */
static void padded(const real *x, long planes, long plane, long row, long column, long height, long width, long top,
    long left, real *to, long rows, long pitch)
{
    for (long i = 0; i < planes; i++, x += plane)
        for (long r = 0; r < rows; r++, to += pitch) {
            const real *from = x + (r - top) * row;
            if (r < top || r - top >= height) {
                memset(to, 0, BYTES * pitch);
                continue;
            }
            memset(to, 0, BYTES * left);
            if (column == 1) memcpy(to + left, from, BYTES * width);
            else
                for (long j = 0; j < width; j++) to[left + j] = from[j * column];
            memset(to + left + width, 0, BYTES * (pitch - left - width));
        }
}

static real *image_of(const struct shape *s, const real *x, long number, real *to)
{
    padded(x + number * s->image, s->channels, s->channel, s->row, s->column, s->height, s->width, s->pad_y, s->pad_x, to,
        s->out_height + K - 1, pitch_of(s));
    return to;
}

/* OB outputs at PV vectors of a picture, which are `step` apart, as those of the outputs are `y_step`; the weights are
   (channel, K, K, OB). */
#define TILE(OB, PV)                                                                                                   \
    static void tile_##OB##_##PV(const real *x, long channels, long plane, long pitch, const real *w, const real *b,   \
        real *y, long y_plane, long step, long y_step, long left, long less)                                           \
    {                                                                                                                  \
        vec sum[OB][PV];                                                                                               \
        EACH(o, OB) EACH(p, PV) sum[o][p] = (vec){};                                                                   \
        for (long i = 0; i < channels; i++, x += plane)                                                                \
            for (int ky = 0; ky < K; ky++)                                                                             \
                EACH(kx, K)                                                                                            \
                {                                                                                                      \
                    vec at[PV];                                                                                        \
                    EACH(p, PV) at[p] = LOAD(x + ky * pitch + kx + p * step);                                          \
                    EACH(p, PV) KEEP(at[p]);                                                                           \
                    EACH(o, OB) EACH(p, PV) sum[o][p] += w[o] * at[p];                                                 \
                    w += OB;                                                                                           \
                }                                                                                                      \
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
typedef void tile(const real *, long, long, long, const real *, const real *, real *, long, long, long, long, long);
#define BLOCK 6 /* outputs: 12 sums hide the latency of products and leave four of 16 registers */
#define TILES(PV) TILE(1, PV) TILE(2, PV) TILE(3, PV) TILE(4, PV) TILE(5, PV) TILE(6, PV)
TILES(1)
TILES(2)
static tile *const tiles[2][BLOCK + 1] = {{0, tile_1_1, tile_2_1, tile_3_1, tile_4_1, tile_5_1, tile_6_1},
    {0, tile_1_2, tile_2_2, tile_3_2, tile_4_2, tile_5_2, tile_6_2}};

static long blocks_of(long outs) { return (outs + BLOCK - 1) / BLOCK; }
static long cut(long outs, long block) { return outs * block / blocks_of(outs); }

/* Filters (outs, channels, K, K) in the order in which tiles use them. */
void pack(const real *w, long outs, long channels, real *to)
{
    for (long block = 0; block < blocks_of(outs); block++)
        for (long i = 0; i < channels * K * K; i++)
            for (long o = cut(outs, block); o < cut(outs, block + 1); o++) *to++ = w[o * channels * K * K + i];
}

/* Products of windows and packed filters for pictures from `first` to before `last`; 0 if there is no memory. */
int convolve(const struct shape *s, const real *x, const real *packed, const real *b, real *y, long first, long last)
{
    long rows = s->out_height + K - 1, pitch = pitch_of(s), width = s->out_width, plane = s->out_height * width;
    real *image = room(s->channels * rows * pitch + V);
    if (!image) return 0;
    int narrow = width <= V; /* two vectors are of two rows */
    for (long i = first; i < last; i++) {
        image_of(s, x, i, image);
        for (long r = 0; r < s->out_height;) {
            int many = narrow && r + 1 < s->out_height;
            for (long block = 0; block < blocks_of(s->outs); block++) {
                long o = cut(s->outs, block), outs = cut(s->outs, block + 1) - o;
                const real *w = packed + o * s->channels * K * K;
                real *to = y + (i * s->outs + o) * plane + r * width;
                for (long p = 0; p < width;) {
                    int two = many || (!narrow && width - p > V);
                    tiles[two][outs](image + r * pitch + p, s->channels, rows * pitch, pitch, w, b ? b + o : 0, to + p,
                        plane, many ? pitch : V, many ? width : V, width - p, many ? 0 : V);
                    p += two && !many ? 2 * V : V;
                }
            }
            r += 1 + many;
        }
    }
    free(image);
    return 1;
}

/* Sums over a picture of the windows on one channel times GB outputs, lane by lane. */
#define SUMS(GB)                                                                                                       \
    static void sums_##GB(const real *x, long pitch, const real *g, long g_plane, long g_pitch, long height,           \
        long width, const lanes *end, real *sums, long step)                                                           \
    {                                                                                                                  \
        long whole = width / V * V;                                                                                    \
        for (int ky = 0; ky < K; ky++, sums += K * V) {                                                                \
            vec sum[GB][K];                                                                                            \
            EACH(o, GB) EACH(k, K) sum[o][k] = LOAD(sums + o * step + k * V);                                          \
            for (long r = 0; r < height; r++) {                                                                        \
                const real *row = x + (r + ky) * pitch, *g_row = g + r * g_pitch;                                      \
                for (long p = 0; p < width; p += V) {                                                                  \
                    vec at[K];                                                                                         \
                    EACH(k, K) at[k] = LOAD(row + p + k);                                                              \
                    if (p == whole) EACH(k, K) at[k] = (vec)((lanes)at[k] & *end); /* no infinity times 0 */           \
                    EACH(k, K) KEEP(at[k]);                                                                            \
                    EACH(o, GB)                                                                                        \
                    {                                                                                                  \
                        vec given = LOAD(g_row + o * g_plane + p);                                                     \
                        KEEP(given);                                                                                   \
                        EACH(k, K) sum[o][k] += given * at[k];                                                         \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
            EACH(o, GB) EACH(k, K) STORE(sums + o * step + k * V, sum[o][k]);                                          \
        }                                                                                                              \
    }
typedef void adder(const real *, long, const real *, long, long, long, long, const lanes *, real *, long);
SUMS(1) SUMS(2) SUMS(3)
SUMS(4)
#if K == 3 || defined(__AVX512F__)
#define MANY 4 /* outputs whose sums stay in registers, of which there are 32 with AVX-512, else 16 */
#else
#define MANY (K == 5 ? 2 : 1)
#endif
static adder *const adders[] = {0, sums_1, sums_2, sums_3, sums_4};

/* Sums over the pictures of chunks of windows times `g`, (chunks, outs, channels, K, K), for chunks from `first` to before
   `last`; 0 if there is no memory. */
int filter_backward(const struct shape *s, const real *x, const real *g, real *parts, long first, long last)
{
    long rows = s->out_height + K - 1, pitch = pitch_of(s), g_pitch = round_up(s->out_width);
    long size = s->outs * s->channels * K * K, step = s->channels * K * K * V, plane = s->out_height * g_pitch;
    int copied = g_pitch != s->out_width || s->g_column != 1 || s->g_row != s->out_width || s->g_channel != plane;
    real *image = room(s->channels * rows * pitch + V), *sums = room(size * V), *given = copied ? room(s->outs * plane) : 0;
    int done = image && sums && (given || !copied);
    lanes end;
    for (int j = 0; j < V; j++) end[j] = -(j < s->out_width % V);
    for (long chunk = first; done && chunk < last; chunk++) {
        memset(sums, 0, BYTES * size * V);
        for (long i = s->count * chunk / s->chunks; i < s->count * (chunk + 1) / s->chunks; i++) {
            const real *from = g + i * s->g_image;
            image_of(s, x, i, image);
            if (copied) {
                padded(from, s->outs, s->g_channel, s->g_row, s->g_column, s->out_height, s->out_width, 0, 0, given,
                    s->out_height, g_pitch);
                from = given;
            }
            for (long o = 0; o < s->outs; o += MANY)
                for (long c = 0; c < s->channels; c++)
                    adders[s->outs - o < MANY ? s->outs - o : MANY](image + c * rows * pitch, pitch, from + o * plane, plane,
                        g_pitch, s->out_height, s->out_width, &end, sums + o * step + c * K * K * V, step);
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
