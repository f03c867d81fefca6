/* A sparse matrix in compressed rows, for the benchmarks: 27 points on a cube. */
#ifndef SPMV_H
#define SPMV_H

#include <stdlib.h>

#ifndef N
#define N 128
#endif
#define ROWS (N * N * N)

struct matrix {
    int *row_start, *column;
    double *value, *x, *y;
    int entries;
};

static struct matrix make_matrix(void)
{
    struct matrix m;
    m.row_start = (int *)malloc(sizeof(int) * (ROWS + 1));
    m.column = (int *)malloc(sizeof(int) * 27 * (size_t)ROWS);
    m.value = (double *)malloc(sizeof(double) * 27 * (size_t)ROWS);
    m.x = (double *)malloc(sizeof(double) * ROWS);
    m.y = (double *)malloc(sizeof(double) * ROWS);
    m.entries = 0;
    for (int row = 0; row < ROWS; row++) {
        int k = row / (N * N), j = row / N % N, i = row % N;
        m.row_start[row] = m.entries;
        m.x[row] = 1.0 + row % 3;
        for (int at = 0; at < 27; at++) {
            int kk = k + at / 9 - 1, jj = j + at / 3 % 3 - 1, ii = i + at % 3 - 1;
            if (kk < 0 || jj < 0 || ii < 0 || kk >= N || jj >= N || ii >= N)
                continue;
            m.column[m.entries] = (kk * N + jj) * N + ii;
            m.value[m.entries++] = at == 13 ? 27.0 : -1.0;
        }
    }
    m.row_start[ROWS] = m.entries;
    return m;
}

static double checksum(const double *y)
{
    double sum = 0.0;
    for (int row = 0; row < ROWS; row++)
        sum += y[row] * (1 + row % 5);
    return sum;
}

#endif
