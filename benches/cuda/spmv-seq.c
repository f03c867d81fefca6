/* A sparse matrix times a vector, tuned with a lane for each row: milliseconds a product, and a checksum. */
#include <stdio.h>

#include "clock.h"
#include "spmv.h"

static void product(int rows, int entries, const int *restrict row_start, const int *restrict column,
                    const double *restrict value, const double *restrict x, double *restrict y)
{
#pragma acc parallel loop gang worker vector present(row_start[0:rows + 1], column[0:entries], value[0:entries], x[0:rows], y[0:rows])
    for (int row = 0; row < rows; row++) {
        double sum = 0.0;
        int first = row_start[row], last = row_start[row + 1];
#pragma acc loop seq
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
    double start = 0.0, time = 0.0;
#pragma acc data copyin(row_start[0:ROWS + 1], column[0:entries], value[0:entries], x[0:ROWS]) copyout(y[0:ROWS])
    {
        for (int one = 0; one <= PRODUCTS; one++) {
            if (one == 1)
                start = now();
            product(ROWS, entries, row_start, column, value, x, y);
        }
        time = now() - start;
    }
    printf("spmv-seq %.4f %.10e\n", time / PRODUCTS, checksum(y));
    return 0;
}
