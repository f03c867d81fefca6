/* Heat in a plate: data regions, sections, updates, private variables, reductions, queues. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 24
#define COLUMNS 20

static double plate[ROWS][COLUMNS], next[ROWS][COLUMNS];

static void begin(double *edge, int n)
{
    for (int i = 0; i < n; ++i)
        edge[i] = 1.0 + 0.5 * i;
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j)
            plate[i][j] = next[i][j] = i == 0 ? edge[j] : 0.01 * (i + j);
}

/* How long these are on the device, their data region says alone. */
static void settle(double *to, const double *from, int n)
{
#pragma acc parallel loop default(present)
    for (int i = 0; i < n; ++i)
        to[i] = from[i];
}

static double step(double rate)
{
    double change = 0.0;
    double flow;
#pragma acc parallel loop gang present(plate, next) private(flow)
    for (int i = 1; i < ROWS - 1; ++i)
        for (int j = 1; j < COLUMNS - 1; ++j) {
            flow = plate[i - 1][j] + plate[i + 1][j] + plate[i][j - 1] + plate[i][j + 1];
            next[i][j] = plate[i][j] + rate * (flow - 4.0 * plate[i][j]);
        }
#pragma acc parallel loop collapse(2) present(plate, next) reduction(max : change)
    for (int i = 1; i < ROWS - 1; ++i)
        for (int j = 1; j < COLUMNS - 1; ++j)
            change = fmax(change, fabs(next[i][j] - plate[i][j]));
    settle(plate[1], next[1], (ROWS - 2) * COLUMNS);
    return change;
}

static void mean_of_rows(double *mean, int n)
{
#pragma acc parallel loop present(plate) copyout(mean[0:n])
    for (int i = 0; i < n; ++i) {
        double sum = 0.0;
#pragma acc loop reduction(+ : sum)
        for (int j = 0; j < COLUMNS; ++j)
            sum += plate[i][j];
        mean[i] = sum / COLUMNS;
    }
}

int main(void)
{
    double *edge = malloc(COLUMNS * sizeof *edge), *mean = malloc(ROWS * sizeof *mean);
    double weight[COLUMNS], total = 0.0;
    begin(edge, COLUMNS);
    for (int j = 0; j < COLUMNS; ++j)
        weight[j] = 1.0 / (1 + j);
#pragma acc enter data copyin(weight)
#pragma acc data copy(plate) copyin(next)
    {
        for (int turn = 0; turn < 6; ++turn) {
            double change = step(0.2);
            if (turn % 3 == 2) {
                for (int j = 0; j < COLUMNS; ++j)
                    plate[0][j] = edge[j] += 0.25;
#pragma acc update device(plate[0:1])
#pragma acc update self(plate[5:2])
                printf("%d: %.10f, %.10f\n", turn, change, plate[5][3] + plate[6][7]);
            }
        }
        mean_of_rows(mean, ROWS);
#pragma acc parallel loop async(1) copy(mean[0:ROWS])
        for (int i = 0; i < ROWS; ++i)
            mean[i] = 2.0 * mean[i] + 1.0;
#pragma acc wait(1)
    }
#pragma acc parallel loop present(weight) copyin(mean[0:COLUMNS]) reduction(+ : total)
    for (int j = 0; j < COLUMNS; ++j)
        total += weight[j] * mean[j];
#pragma acc exit data delete(weight)
    printf("%.10f %.10f %.10f\n", total, plate[ROWS / 2][COLUMNS / 2], mean[3] - mean[20]);
    free(edge);
    free(mean);
    return 0;
}
