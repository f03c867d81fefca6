#include <stdlib.h>

static int acc_loop = -1, acc_order;

__attribute__((constructor)) static void acc_begin(void)
{
    const char *loop = getenv("ORACLE_LOOP"), *order = getenv("ORACLE_ORDER");
    acc_loop = loop ? atoi(loop) : -1;
    acc_order = order ? atoi(order) : 0;
}

__attribute__((unused)) static long acc_trips(long first, long end, long step)
{
    long distance = step > 0 ? end - first : first - end, stride = step > 0 ? step : -step;
    return distance > 0 ? (distance + stride - 1) / stride : 0;
}

__attribute__((unused)) static long acc_at(int loop, long k, long n)
{
    static long *table;
    static unsigned state;
    if (loop != acc_loop || acc_order == 0)
        return k;
    if (acc_order == 1)
        return n - 1 - k;
    if (k == 0) {
        table = (long *)realloc(table, sizeof(long) * n);
        state += acc_order;
        for (long i = 0; i < n; i++) {
            state = state * 1103515245u + 12345u;
            long j = (state >> 8) % (i + 1);
            table[i] = table[j];
            table[j] = i;
        }
    }
    return table[k];
}
