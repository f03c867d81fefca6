/*
 * Sparse matrix-vector product, CSR, 27-point stencil on a cube: milliseconds a product, and a checksum.
 * Usage: spmv [EDGE [PRODUCTS]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void product(int rows, const int *restrict row_start, const int *restrict column,
                    const double *restrict value, const double *restrict x, double *restrict y, long entries)
{
#pragma acc parallel loop present(row_start[0:rows + 1], column[0:entries], value[0:entries], x[0:rows], y[0:rows])
    for (int row = 0; row < rows; row++) {
        double sum = 0.0;
        int first = row_start[row];
        int last = row_start[row + 1];
#pragma acc loop reduction(+:sum)
        for (int k = first; k < last; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

int main(int argc, char **argv)
{
    int edge = argc > 1 ? atoi(argv[1]) : 160;
    int products = argc > 2 ? atoi(argv[2]) : 100;
    int rows = edge * edge * edge;
    int *row_start = malloc(sizeof(int) * (rows + 1));
    int *column = malloc(sizeof(int) * 27L * rows);
    double *value = malloc(sizeof(double) * 27L * rows);
    double *x = malloc(sizeof(double) * rows);
    double *y = malloc(sizeof(double) * rows);
    long entries = 0;
    for (int row = 0; row < rows; row++) {
        int k = row / (edge * edge), j = row / edge % edge, i = row % edge;
        row_start[row] = entries;
        x[row] = 1.0 + row % 3;
        for (int dk = -1; dk <= 1; dk++)
            for (int dj = -1; dj <= 1; dj++)
                for (int di = -1; di <= 1; di++) {
                    int at = k + dk, bt = j + dj, ct = i + di;
                    if (at < 0 || bt < 0 || ct < 0 || at >= edge || bt >= edge || ct >= edge)
                        continue;
                    column[entries] = (at * edge + bt) * edge + ct;
                    value[entries++] = dk == 0 && dj == 0 && di == 0 ? 27.0 : -1.0;
                }
    }
    row_start[rows] = entries;
    double time = 0.0, sum = 0.0;
#pragma acc data copyin(row_start[0:rows + 1], column[0:entries], value[0:entries], x[0:rows]) copyout(y[0:rows])
    {
        product(rows, row_start, column, value, x, y, entries);
        double start = now();
        for (int k = 0; k < products; k++)
            product(rows, row_start, column, value, x, y, entries);
        time = now() - start;
    }
    for (int row = 0; row < rows; row++)
        sum += y[row] * (1 + row % 5);
    printf("spmv edge %d checksum %.12e ms/product %.4f\n", edge, sum, 1e3 * time / products);
    return 0;
}
