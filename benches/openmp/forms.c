/*
 * The same kernels in several forms of OpenMP, by hand: which form a compiler makes fast, and where none is. Prints milliseconds.
 *   clang -O3 -fopenmp --offload-arch=native forms.c -o forms -mcmodel=medium -lm && ./forms
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4096, M = 8192, L = 65536, CUBE = 384, GRID = 256, DEPTH = 128, SIDE = 160, RADIUS = 16, ROUNDS = 10 };
#define ROWS_OF_ALL (SIDE * SIDE * SIDE)
#define NUMBERS (1 << 26)

static double a[N][N], b[N][N], c[M][M], x[M], y[M], (*from)[L], (*to)[L];
static unsigned char *picture;
static int bins[256];

#define TIME(name, code)                                                       \
    do {                                                                       \
        code;                                                                  \
        double start = omp_get_wtime();                                        \
        for (int round = 0; round < ROUNDS; round++)                           \
            code;                                                              \
        printf("%-40s %8.4f\n", name,                                          \
               1e3 * (omp_get_wtime() - start) / ROUNDS);                      \
    } while (0)

/* A step of Jacobi's method with the largest change, and the copy back. */
#define JACOBI(name, outer, inner)                                             \
    static void name(void)                                                     \
    {                                                                          \
        double most = 0;                                                       \
        _Pragma(outer) for (int i = 1; i < N - 1; i++)                         \
            inner for (int j = 1; j < N - 1; j++)                              \
        {                                                                      \
            b[i][j] = 0.25 * (a[i][j + 1] + a[i][j - 1] + a[i - 1][j] +        \
                              a[i + 1][j]);                                    \
            most = fmax(most, fabs(b[i][j] - a[i][j]));                        \
        }                                                                      \
    }
#define COPY(name, outer, inner)                                               \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int i = 1; i < N - 1; i++)                         \
            inner for (int j = 1; j < N - 1; j++) a[i][j] = b[i][j];           \
    }
JACOBI(jacobi_flat, "omp target teams distribute parallel for collapse(2) reduction(max:most) map(tofrom:most)", )
JACOBI(jacobi_split, "omp target teams distribute reduction(max:most) map(tofrom:most)",
       _Pragma("omp parallel for reduction(max:most)"))
COPY(copy_flat, "omp target teams distribute parallel for collapse(2)", )
COPY(copy_split, "omp target teams distribute", _Pragma("omp parallel for"))

/* A matrix times a vector: sums of rows. */
#define ROWS(name, outer, inner)                                               \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int i = 0; i < M; i++)                             \
        {                                                                      \
            double sum = 0;                                                    \
            inner for (int j = 0; j < M; j++) sum += c[i][j] * x[j];           \
            y[i] = sum;                                                        \
        }                                                                      \
    }
ROWS(rows_split, "omp target teams distribute", _Pragma("omp parallel for reduction(+:sum)"))
ROWS(rows_narrow, "omp target teams distribute thread_limit(32)", _Pragma("omp parallel for reduction(+:sum)"))
ROWS(rows_256, "omp target teams distribute thread_limit(256)", _Pragma("omp parallel for reduction(+:sum)"))
ROWS(rows_combined, "omp target teams distribute parallel for", )
ROWS(rows_loop, "omp target teams loop", _Pragma("omp loop reduction(+:sum)"))

/* Its transpose times a vector: sums of columns, one a thread. */
#define COLUMNS(name, outer)                                                   \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int j = 0; j < M; j++)                             \
        {                                                                      \
            double sum = 0;                                                    \
            for (int i = 0; i < M; i++)                                        \
                sum += c[i][j] * x[i];                                         \
            y[j] = sum;                                                        \
        }                                                                      \
    }
COLUMNS(columns, "omp target teams distribute parallel for")
COLUMNS(columns_small, "omp target teams distribute parallel for num_teams(128) thread_limit(64)")
static void columns_unrolled(void)
{
#pragma omp target teams distribute parallel for num_teams(128) thread_limit(64)
    for (int j = 0; j < M; j++) {
        double sum = 0;
#pragma unroll 16
        for (int i = 0; i < M; i++)
            sum += c[i][j] * x[i];
        y[j] = sum;
    }
}

/* Many recurrences. */
#define SCAN(name, outer)                                                      \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int i = 0; i < L; i++)                             \
        {                                                                      \
            double last = 0;                                                   \
            for (int k = 0; k < 512; k++)                                      \
                to[k][i] = last = 0.5 * last + from[k][i];                     \
        }                                                                      \
    }
SCAN(scan, "omp target teams distribute parallel for")
SCAN(scan_small, "omp target teams distribute parallel for num_teams(512) thread_limit(128)")

/* The sum of all, and the histogram. */
#define SUM(name, outer)                                                       \
    static void name(void)                                                     \
    {                                                                          \
        double sum = 0;                                                        \
        _Pragma(outer) for (long i = 0; i < (long)M * M; i++) sum +=           \
            ((double *)c)[i];                                                  \
    }
SUM(sum, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum)")
SUM(sum_teams, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum) num_teams(528) thread_limit(256)")

/* The sum of products of 160^3 numbers, as a step of conjugate gradients needs two of. */
#define DOT(name, outer)                                                       \
    static void name(void)                                                     \
    {                                                                          \
        double sum = 0;                                                        \
        _Pragma(outer) for (int i = 0; i < 160 * 160 * 160; i++) sum +=        \
            ((double *)a)[i] * ((double *)b)[i];                               \
    }
DOT(dot, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum)")
DOT(dot_small, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum) num_teams(512) thread_limit(256)")
DOT(dot_large, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum) num_teams(256) thread_limit(512)")
DOT(dot_wide, "omp target teams distribute parallel for reduction(+:sum) map(tofrom:sum) num_teams(1024) thread_limit(256)")

/* Each team adds up first, and what it has is added atomically. */
#define SUM_OF_TEAMS(name, clauses, count, value)                              \
    static void name(void)                                                     \
    {                                                                          \
        double sum = 0;                                                        \
        _Pragma(clauses)                                                       \
        {                                                                      \
            double own = 0;                                                    \
            _Pragma("omp distribute parallel for reduction(+:own)")            \
            for (long i = 0; i < (count); i++)                                 \
                own += value;                                                  \
            _Pragma("omp parallel num_threads(1)")                             \
            _Pragma("omp atomic") sum += own;                                  \
        }                                                                      \
    }
SUM_OF_TEAMS(sum_apart, "omp target teams map(tofrom:sum) thread_limit(256)", (long)M * M, ((double *)c)[i])
SUM_OF_TEAMS(sum_apart_teams, "omp target teams map(tofrom:sum) num_teams(1056) thread_limit(256)", (long)M * M,
             ((double *)c)[i])
SUM_OF_TEAMS(dot_apart, "omp target teams map(tofrom:sum) thread_limit(256)", ROWS_OF_ALL,
             ((double *)a)[i] * ((double *)b)[i])

/* A stencil of 7 points on a cube. */
static double (*from_cube)[CUBE][CUBE], (*to_cube)[CUBE][CUBE];
#define STENCIL(name, outer, inner)                                            \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int k = 1; k < CUBE - 1; k++)                      \
            for (int j = 1; j < CUBE - 1; j++)                                 \
                inner for (int i = 1; i < CUBE - 1; i++)                       \
                    to_cube[k][j][i] =                                         \
                        0.4 * from_cube[k][j][i] +                             \
                        0.1 * (from_cube[k][j][i - 1] + from_cube[k][j][i + 1] + from_cube[k][j - 1][i] + \
                               from_cube[k][j + 1][i] + from_cube[k - 1][j][i] + from_cube[k + 1][j][i]); \
    }
STENCIL(stencil_flat, "omp target teams distribute parallel for collapse(3)", )
STENCIL(stencil_split, "omp target teams distribute collapse(2)", _Pragma("omp parallel for"))
STENCIL(stencil_each,
        "omp target teams distribute parallel for collapse(3) num_teams(CUBE * CUBE * CUBE / 256 + 1) thread_limit(256)", )

/* A step of Himeno's benchmark. */
static float p[GRID][GRID][DEPTH], next[GRID][GRID][DEPTH], bound[GRID][GRID][DEPTH], source[GRID][GRID][DEPTH];
static float ca[4][GRID][GRID][DEPTH], cb[3][GRID][GRID][DEPTH], cc[3][GRID][GRID][DEPTH];
#define POINT(change)                                                          \
    float sum = ca[0][i][j][k] * p[i + 1][j][k] + ca[1][i][j][k] * p[i][j + 1][k] + ca[2][i][j][k] * p[i][j][k + 1] + \
                cb[0][i][j][k] * (p[i + 1][j + 1][k] - p[i + 1][j - 1][k] - p[i - 1][j + 1][k] + p[i - 1][j - 1][k]) + \
                cb[1][i][j][k] * (p[i][j + 1][k + 1] - p[i][j - 1][k + 1] - p[i][j + 1][k - 1] + p[i][j - 1][k - 1]) + \
                cb[2][i][j][k] * (p[i + 1][j][k + 1] - p[i - 1][j][k + 1] - p[i + 1][j][k - 1] + p[i - 1][j][k - 1]) + \
                cc[0][i][j][k] * p[i - 1][j][k] + cc[1][i][j][k] * p[i][j - 1][k] + cc[2][i][j][k] * p[i][j][k - 1] + \
                source[i][j][k];                                               \
    float differs = (sum * ca[3][i][j][k] - p[i][j][k]) * bound[i][j][k];      \
    change;                                                                    \
    next[i][j][k] = p[i][j][k] + 0.8f * differs;
#define GRID_LOOPS(inner, change)                                              \
    for (int i = 1; i < GRID - 1; i++)                                         \
        for (int j = 1; j < GRID - 1; j++)                                     \
            inner for (int k = 1; k < DEPTH - 1; k++)                          \
            {                                                                  \
                POINT(change)                                                  \
            }
#define HIMENO(name, outer, inner)                                             \
    static void name(void)                                                     \
    {                                                                          \
        double change = 0;                                                     \
        _Pragma(outer) GRID_LOOPS(inner, change += differs * differs)          \
    }
HIMENO(himeno_split, "omp target teams distribute collapse(2) reduction(+:change) map(tofrom:change)",
       _Pragma("omp parallel for reduction(+:change)"))
HIMENO(himeno_flat, "omp target teams distribute parallel for collapse(3) reduction(+:change) map(tofrom:change)", )
static void himeno_apart(void)
{
    double change = 0;
#pragma omp target teams map(tofrom : change) thread_limit(256)
    {
        double own = 0;
#pragma omp distribute parallel for collapse(3) reduction(+ : own)
        GRID_LOOPS(, own += differs * differs)
#pragma omp parallel num_threads(1)
#pragma omp atomic
        change += own;
    }
}
static void himeno_nothing(void)
{
#pragma omp target teams distribute parallel for collapse(3)
    GRID_LOOPS(, )
}

/* A sparse matrix of 27 points times a vector. */
static int *row_start, *column;
static double *value, *sx, *sy;
#define SPARSE(name, outer)                                                    \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int row = 0; row < ROWS_OF_ALL; row++)             \
        {                                                                      \
            double sum = 0;                                                    \
            int first = row_start[row], last = row_start[row + 1];             \
            for (int k = first; k < last; k++)                                 \
                sum += value[k] * sx[column[k]];                               \
            sy[row] = sum;                                                     \
        }                                                                      \
    }
SPARSE(sparse, "omp target teams distribute parallel for")
SPARSE(sparse_64, "omp target teams distribute parallel for num_teams(ROWS_OF_ALL / 64 + 1) thread_limit(64)")
SPARSE(sparse_128, "omp target teams distribute parallel for num_teams(ROWS_OF_ALL / 128 + 1) thread_limit(128)")
SPARSE(sparse_256, "omp target teams distribute parallel for num_teams(ROWS_OF_ALL / 256 + 1) thread_limit(256)")

/* A filter of 33 points. */
static double *numbers, *filtered, weight[2 * RADIUS + 1];
#define FILTER(name, outer)                                                    \
    static void name(void)                                                     \
    {                                                                          \
        _Pragma(outer) for (int i = RADIUS; i < NUMBERS - RADIUS; i++)         \
        {                                                                      \
            double sum = 0;                                                    \
            for (int d = -RADIUS; d <= RADIUS; d++)                            \
                sum += weight[d + RADIUS] * numbers[i + d];                    \
            filtered[i] = sum;                                                 \
        }                                                                      \
    }
FILTER(filter, "omp target teams distribute parallel for")
FILTER(filter_256, "omp target teams distribute parallel for thread_limit(256)")
FILTER(filter_each, "omp target teams distribute parallel for num_teams(NUMBERS / 256 + 1) thread_limit(256)")

/* A matrix of 27 points on a cube. */
static int fill_sparse(void)
{
    int entries = 0;
    for (int row = 0; row < ROWS_OF_ALL; row++) {
        int i = row / SIDE / SIDE, j = row / SIDE % SIDE, k = row % SIDE;
        row_start[row] = entries;
        sx[row] = 1 + row % 5;
        for (int near = 0; near < 27; near++) {
            int x = i + near / 9 - 1, y = j + near / 3 % 3 - 1, z = k + near % 3 - 1;
            if (x < 0 || y < 0 || z < 0 || x >= SIDE || y >= SIDE || z >= SIDE)
                continue;
            column[entries] = (x * SIDE + y) * SIDE + z;
            value[entries++] = near == 13 ? 27 : -1;
        }
    }
    row_start[ROWS_OF_ALL] = entries;
    return entries;
}

static void histogram(void)
{
#pragma omp target teams distribute parallel for
    for (long i = 0; i < (long)M * M; i++) {
#pragma omp atomic
        bins[picture[i]]++;
    }
}

/* Each team counts in a table of its own first. */
static void histogram_of_teams(void)
{
#pragma omp target teams num_teams(528) thread_limit(256)
    {
        int own[256];
#pragma omp parallel for
        for (int i = 0; i < 256; i++)
            own[i] = 0;
#pragma omp distribute parallel for
        for (long i = 0; i < (long)M * M; i++) {
#pragma omp atomic
            own[picture[i]]++;
        }
#pragma omp parallel for
        for (int i = 0; i < 256; i++) {
#pragma omp atomic
            bins[i] += own[i];
        }
    }
}

int main(void)
{
    from = calloc(512, sizeof *from);
    to = calloc(512, sizeof *to);
    picture = malloc((long)M * M);
    for (long i = 0; i < (long)M * M; i++)
        picture[i] = (unsigned char)(i * 2654435761u >> 13);
    from_cube = calloc(CUBE, sizeof *from_cube);
    to_cube = calloc(CUBE, sizeof *to_cube);
    row_start = malloc(sizeof(int) * (ROWS_OF_ALL + 1));
    column = malloc(sizeof(int) * 27L * ROWS_OF_ALL);
    value = malloc(sizeof(double) * 27L * ROWS_OF_ALL);
    sx = malloc(sizeof(double) * ROWS_OF_ALL);
    sy = malloc(sizeof(double) * ROWS_OF_ALL);
    numbers = calloc(NUMBERS, sizeof(double));
    filtered = calloc(NUMBERS, sizeof(double));
    int entries = fill_sparse();
#pragma omp target data map(to : a, b, c, x, y, bins, from[0 : 512], to[0 : 512], picture[0 : (long)M * M]) \
    map(to : from_cube[0 : CUBE], to_cube[0 : CUBE], p, next, bound, source, ca, cb, cc, numbers[0 : NUMBERS]) \
    map(to : filtered[0 : NUMBERS], weight, row_start[0 : ROWS_OF_ALL + 1], column[0 : entries], value[0 : entries]) \
    map(to : sx[0 : ROWS_OF_ALL], sy[0 : ROWS_OF_ALL])
    {
        TIME("Jacobi, flat", jacobi_flat());
        TIME("Jacobi, split", jacobi_split());
        TIME("copy, flat", copy_flat());
        TIME("copy, split", copy_split());
        TIME("sums of rows, split", rows_split());
        TIME("sums of rows, split, 32 threads", rows_narrow());
        TIME("sums of rows, split, 256 threads", rows_256());
        TIME("sums of rows, a thread each", rows_combined());
        TIME("sums of rows, loop", rows_loop());
        TIME("sums of columns", columns());
        TIME("sums of columns, 64 threads in a team", columns_small());
        TIME("sums of columns, unrolled", columns_unrolled());
        TIME("recurrences", scan());
        TIME("recurrences, 128 threads in a team", scan_small());
        TIME("sum", sum());
        TIME("sum, 528 teams", sum_teams());
        TIME("sum of products", dot());
        TIME("sum of products, 512 teams of 256", dot_small());
        TIME("sum of products, 256 teams of 512", dot_large());
        TIME("sum of products, 1024 teams of 256", dot_wide());
        TIME("sum, teams apart", sum_apart());
        TIME("sum, 1056 teams apart", sum_apart_teams());
        TIME("sum of products, teams apart", dot_apart());
        TIME("stencil, flat", stencil_flat());
        TIME("stencil, split", stencil_split());
        TIME("stencil, a thread for each point", stencil_each());
        TIME("Himeno, split", himeno_split());
        TIME("Himeno, flat", himeno_flat());
        TIME("Himeno, teams apart", himeno_apart());
        TIME("Himeno, without its sum", himeno_nothing());
        TIME("sparse", sparse());
        TIME("sparse, teams of 64", sparse_64());
        TIME("sparse, teams of 128", sparse_128());
        TIME("sparse, teams of 256", sparse_256());
        TIME("filter", filter());
        TIME("filter, teams of 256", filter_256());
        TIME("filter, a thread for each number", filter_each());
        TIME("histogram", histogram());
        TIME("histogram, a table in each team", histogram_of_teams());
    }
    return 0;
}
