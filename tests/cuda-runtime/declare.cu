// Globals of `declare`, and device code that asks where it is.
#include "check.h"

static int host_table[100];
static __device__ int device_table[100];
static double plain = 1;
static int created[10];

static void *table_address()
{
    void *address = nullptr;
    return cudaGetSymbolAddress(&address, device_table) == cudaSuccess ? address : nullptr;
}

// Before `main`, as generated code does it.
static const bool is_registered = [] {
    for (int i = 0; i < 100; ++i)
        host_table[i] = i;
    acc2omp_declare(host_table, sizeof host_table, table_address, 1);
    acc2omp_declare(&plain, sizeof plain, nullptr, 1);
    acc2omp_declare(created, sizeof created, nullptr, 0);
    return true;
}();

static __global__ void use(const double *value, int *where)
{
    int i = static_cast<int>(threadIdx.x);
    device_table[i] += static_cast<int>(*value * 2);
    if (i == 0)
        *where = acc_on_device(acc_device_not_host) + 2 * acc_on_device(acc_device_host) + 4 * acc_on_device(acc_device_nvidia);
}

struct cell {
    char c;
    double d, e;
};

// Lists of layouts, as a translation has them: of the type here, and with other sizes, other members, fewer of them.
static const acc2omp_layout own[] = {ACC2OMP_SIZE(int), ACC2OMP_LAYOUT(struct cell, c, d, e), {0, 0}};
static const acc2omp_layout fewer[] = {ACC2OMP_SIZE(int), ACC2OMP_LAYOUT(struct cell, c, d), {0, 0}};
static const acc2omp_layout packed[] = {
    ACC2OMP_SIZE(int), {"", sizeof(struct cell)}, {"", 8}, {"", 0}, {"", 1}, {"", 9}, {0, 0}};

static void layouts()
{
    acc2omp_compare_layouts("a.c", own, own);
    CHECK(own[2].bytes == 24 && own[7].what == nullptr && own[6].bytes == 16);
    CHECK(fails([] { acc2omp_compare_layouts("a.c", own, packed); },
                "acc2omp: a.c and its device code were built with different layouts: the place of d in struct cell is 8, "
                "not 1"));
    CHECK(fails([] { acc2omp_compare_layouts("a.c", own, fewer); }, "a.c and its device code were translated from different"));
}

int main()
{
    layouts();
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 100; ++i)
            host_table[i] = -1;
        plain = 2.5;
        int where = 0;
        {
            // A twin has the values of the registration, after a shutdown, too; other memory those of the first use.
            acc2omp::Region region("declare.cu:1", acc_async_sync);
            launch(region, 1, 100, use, region.pointer("plain", &plain), region.copyout("where", &where, 1));
        }
        CHECK(where == 5 && host_table[1] == -1);
        acc_update_self(host_table, sizeof host_table);
        CHECK(host_table[0] == 5 && host_table[99] == 104);
        CHECK(acc_deviceptr(host_table) == table_address() && acc_is_present(created, sizeof created));
        // They never leave.
        acc_copyin(host_table, sizeof host_table);
        acc_delete_finalize(host_table, sizeof host_table);
        acc2omp_begin("declare.cu:2", acc_async_sync);
        acc2omp_copy("created", created, sizeof created);
        acc2omp_end();
        CHECK(acc_is_present(host_table, sizeof host_table) && acc_is_present(created, sizeof created));
        acc_shutdown(acc_device_nvidia);
    }
    CHECK(is_registered);
    return finish();
}
