// Tables in shared memory: which arrays get one, that their updates arrive, and those of elements behind them.
#include "check.h"

using namespace acc2omp;

constexpr int n = 4096, bins = 16;

static __global__ void count(int *few, Table<int> few_table, long *sums, Table<long> sums_table, unsigned *most_seen)
{
    few_table.begin<Plus>();
    sums_table.begin<BitXor>();
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += static_cast<int>(gridDim.x * blockDim.x)) {
        few_table.update<Plus>(&few[i % bins], 2);
        few_table.update<Minus>(&few[i % bins], 1);
        sums_table.update<BitXor>(&sums[i % 3], 1l << i % 40);
    }
    // Until the end, nothing arrives.
    if (few_table.count > 0 && atomic_read(&few[0]) >= n / bins)
        atomic_update<Plus>(most_seen, 1);
    few_table.end<Plus>();
    sums_table.end<BitXor>();
}

int main()
{
    static int few[bins], more[bins], large[8192], last[2 * bins];
    static long sums[3], wanted[3];
    unsigned seen = 0;
    for (int i = 0; i < n; ++i)
        wanted[i % 3] ^= 1l << i % 40;
    {
        Region region("tables.cu:1", acc_async_sync);
        int *few_device = region.copy("few", few, bins), *large_device = region.copy("large", large, 8192);
        long *sums_device = region.copy("sums", sums, 3);
        const dim3 gangs(8);
        Table<int> table = region.table(few_device, n, gangs);
        CHECK(table.count == bins && table.place == 0 && region.room() == sizeof few);
        // Too long; too few updates; what is not the region's.
        CHECK(region.table(large_device, 1 << 30, gangs).count == 0);
        CHECK(region.table(few_device, 255, gangs).count == 0);
        CHECK(region.table(static_cast<int *>(region.scratch<int>(bins)), n, gangs).count == 0);
        Table<long> sums_table = region.table(sums_device, n, gangs);
        CHECK(sums_table.count == 3 && sums_table.place == sizeof few);
        launch(region, gangs, 64, count, few_device, table, sums_device, sums_table, region.copy("seen", &seen, 1));
    }
    for (int one : few)
        CHECK(one == n / bins);
    for (int one = 0; one < 3; ++one)
        CHECK(sums[one] == wanted[one]);
    CHECK(seen == 0);
    {
        // Without a table, and from the middle of what is present.
        Region region("tables.cu:2", acc_async_sync);
        int *more_device = region.copy("more", more, bins), *last_device = region.copy("last", last, 2 * bins) + bins;
        Table<int> table = region.table(last_device, n, 8);
        CHECK(table.count == bins);
        launch(region, 8, 64, count, last_device, table, region.copy("sums", sums, 3), Table<long>{nullptr, 0, 0}, region.copy("seen", &seen, 1));
        launch(region, 8, 64, count, more_device, Table<int>{more_device, 0, 0}, region.copy("sums", sums, 3), Table<long>{nullptr, 0, 0},
               region.copy("seen", &seen, 1));
    }
    for (int one = 0; one < bins; ++one)
        CHECK(more[one] == n / bins && last[one] == 0 && last[bins + one] == n / bins);
    return finish();
}
