/* A sparse matrix times a vector: milliseconds a product, and a checksum. */
#include "clock.h"
#include "spmv.h"

#define ROUNDS 20

static void product(int rows, int entries, const int *restrict row_start, const int *restrict column,
                    const double *restrict value, const double *restrict x, double *restrict y)
{
    /* Rows are short: a lane for each. */
#if DIRECTED
#pragma acc parallel loop gang vector present(row_start[0:rows + 1], column[0:entries], value[0:entries], x[0:rows], y[0:rows])
#elif OUTER
#pragma acc parallel loop present(row_start[0:rows + 1], column[0:entries], value[0:entries], x[0:rows], y[0:rows])
#else
#pragma acc kernels present(row_start[0:rows + 1], column[0:entries], value[0:entries], x[0:rows], y[0:rows])
#endif
    for (int row = 0; row < rows; row++) {
        double sum = 0.0;
        int first = row_start[row], last = row_start[row + 1];
#if DIRECTED
#pragma acc loop seq
#endif
        for (int k = first; k < last; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

int main(void)
{
    struct matrix m = make_matrix();
    int entries = m.entries;
    int *row_start = m.row_start, *column = m.column;
    double *value = m.value, *x = m.x, *y = m.y;
    double time = 0.0;
#pragma acc data copyin(row_start[0:ROWS + 1], column[0:entries], value[0:entries], x[0:ROWS]) copyout(y[0:ROWS])
    {
        product(ROWS, entries, row_start, column, value, x, y);
        time = now();
        for (int round = 0; round < ROUNDS; round++)
            product(ROWS, entries, row_start, column, value, x, y);
        time = now() - time;
    }
    report("spmv", time / ROUNDS, checksum(y));
    return 0;
}
