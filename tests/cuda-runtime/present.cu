// The present table: both counters, every clause, sections, sizes of zero, mapped data.
#include "check.h"

constexpr int n = 1000;

static bool all(const int *a, int value)
{
    for (int i = 0; i < n; ++i)
        if (a[i] != value)
            return false;
    return true;
}

static void fill(int *a, int value)
{
    for (int i = 0; i < n; ++i)
        a[i] = value;
}

static void clauses()
{
    static int a[n];
    // A launch by itself copies in and out.
    fill(a, 1);
    add_on("present.cu:1", acc_async_sync, a, n, 2);
    CHECK(all(a, 3));
    CHECK(!acc_is_present(a, sizeof a));

    // `copy` of a region: its end brings the values, an inner `copy` does not.
    acc2omp_begin("present.cu:2", acc_async_sync);
    void *device = acc2omp_copy("a", a, sizeof a);
    CHECK(device && device != a && acc_deviceptr(a) == device && acc_hostptr(device) == a);
    CHECK(acc_deviceptr(a + 10) == static_cast<int *>(device) + 10);
    CHECK(acc2omp_use_device("x.c:6", "a", a) == device);
    CHECK(acc_is_present(a, sizeof a) && acc_is_present(a + 1, sizeof a - sizeof *a) && !acc_is_present(a + 1, sizeof a));
    fill(a, 100);
    add_on("present.cu:3", acc_async_sync, a, n, 1);
    CHECK(all(a, 100));
    // A section of what is present.
    acc2omp_begin("present.cu:4", acc_async_sync);
    CHECK(acc2omp_copyout("a", a + 5, 10 * sizeof *a) == static_cast<int *>(device) + 5);
    acc2omp_end();
    acc2omp_end();
    CHECK(all(a, 4));

    // `copyin` does not copy out; `copyout` and `create` do not copy in.
    acc2omp_begin("present.cu:5", acc_async_sync);
    acc2omp_copyin("a", a, sizeof a);
    add_on("present.cu:6", acc_async_sync, a, n, 1);
    acc_update_self(a + 1, sizeof *a);
    CHECK(a[0] == 4 && a[1] == 5 && a[2] == 4);
    acc2omp_end();
    CHECK(a[0] == 4);
    acc2omp_begin("present.cu:7", acc_async_sync);
    acc2omp_copyout_zero("a", a, sizeof a);
    add_on("present.cu:8", acc_async_sync, a, n, 7);
    acc2omp_end();
    CHECK(all(a, 7));
    acc2omp_begin("present.cu:9", acc_async_sync);
    acc2omp_create_zero("a", a, sizeof a);
    add_on("present.cu:10", acc_async_sync, a, n, 9);
    CHECK(all(a, 7));
    acc_update_self(a, sizeof a);
    CHECK(all(a, 9));
    acc2omp_end();

    // `no_create` and sizes of zero.
    acc2omp_begin("present.cu:11", acc_async_sync);
    CHECK(acc2omp_no_create("a", a, sizeof a) == a);
    CHECK(acc2omp_copy("a", a, 0) == a && acc2omp_present("a", a, 0) == a && acc2omp_copy("a", nullptr, 8) == nullptr);
    device = acc2omp_create("a", a, sizeof a);
    CHECK(acc2omp_no_create("a", a, sizeof a) == device && acc2omp_copyin("a", a + 1, 0) == static_cast<int *>(device) + 1);
    acc2omp_end();
    CHECK(!acc_is_present(a, 0));
}

static void counters()
{
    static int a[n];
    fill(a, 1);
    // Dynamic inside of structured: the region's end does not take it.
    acc2omp_begin("present.cu:20", acc_async_sync);
    acc2omp_copy("a", a, sizeof a);
    CHECK(acc_copyin(a, sizeof a) == acc_deviceptr(a));
    add_on("present.cu:21", acc_async_sync, a, n, 1);
    acc2omp_end();
    CHECK(acc_is_present(a, sizeof a) && all(a, 1));
    acc_copyout(a, sizeof a);
    CHECK(!acc_is_present(a, sizeof a) && all(a, 2));

    // Structured inside of dynamic, counted twice.
    acc_create(a, sizeof a);
    acc_pcreate(a, sizeof a);
    acc2omp_begin("present.cu:22", acc_async_sync);
    acc2omp_copy("a", a, sizeof a);
    acc_delete(a, sizeof a);
    acc2omp_end();
    CHECK(acc_is_present(a, sizeof a) && all(a, 2));
    acc_delete(a, sizeof a);
    CHECK(!acc_is_present(a, sizeof a));
    acc_delete(a, sizeof a);

    // `finalize`, and inside of a region that holds on.
    acc_copyin(a, sizeof a);
    acc_copyin(a, sizeof a);
    acc_update_device(a, sizeof a);
    acc2omp_begin("present.cu:23", acc_async_sync);
    acc2omp_present("a", a, sizeof a);
    acc_copyout_finalize(a, sizeof a);
    CHECK(acc_is_present(a, sizeof a));
    acc2omp_end();
    CHECK(!acc_is_present(a, sizeof a));
    acc_copyin(a, sizeof a);
    acc_copyin(a, sizeof a);
    acc_delete_finalize(a, sizeof a);
    CHECK(!acc_is_present(a, sizeof a));

    // `enter data create(zero:)`.
    acc2omp_create_zero_dynamic("a", a, sizeof a, acc_async_sync);
    acc_copyout(a, sizeof a);
    CHECK(all(a, 0));
}

static void addresses()
{
    static int a[n], b[n];
    fill(a, 5);
    int *memory = static_cast<int *>(acc_malloc(sizeof a));
    CHECK(memory);
    acc_memcpy_to_device(memory, a, sizeof a);
    acc_map_data(a, memory, sizeof a);
    CHECK(acc_deviceptr(a) == memory);
    add_on("present.cu:30", acc_async_sync, a, n, 1);
    acc_delete(b, sizeof b);
    acc_unmap_data(a);
    CHECK(!acc_is_present(a, sizeof a));
    acc_memcpy_from_device(b, memory, sizeof b);
    CHECK(all(b, 6) && all(a, 5));
    {
        // A pointer without clause that is the device's already.
        acc2omp::Region region("present.cu:31", acc_async_sync);
        CHECK(region.pointer("memory", memory) == memory && region.pointer<int>("null", nullptr) == nullptr);
        int *other = region.scratch<int>(n);
        launch(region, 4, 128, add, region.pointer("memory", memory + 1), n - 1, 1);
        launch(region, 4, 128, add, other, n, 1);
    }
    acc_memcpy_device(memory, memory + 1, sizeof *a);
    acc_memcpy_from_device(b, memory, sizeof b);
    CHECK(all(b, 7));
    acc_free(memory);
    CHECK(acc_get_num_devices(acc_device_nvidia) >= 1 && acc_get_num_devices(acc_device_none) == 0);
    CHECK(acc_get_device_type() == acc_device_nvidia && acc_get_device_num(acc_device_current) == 0);
    CHECK(acc_get_property(0, acc_device_current, acc_property_memory) > acc_get_property(-1, acc_device_current, acc_property_free_memory) / 2);
    CHECK(strcmp(acc_get_property_string(0, acc_device_nvidia, acc_property_vendor), "NVIDIA") == 0);
    CHECK(*acc_get_property_string(0, acc_device_nvidia, acc_property_name));
    CHECK(acc_on_device(acc_device_host) && !acc_on_device(acc_device_nvidia));
    // After a shutdown everything begins anew.
    acc_copyin(a, sizeof a);
    acc_shutdown(acc_device_default);
    CHECK(!acc_is_present(a, sizeof a));
    add_on("present.cu:32", 3, a, n, 1);
    acc_wait_all();
    CHECK(all(a, 6));
    // On the host nothing moves.
    acc_set_device_type(acc_device_host);
    CHECK(acc_get_device_type() == acc_device_host && acc_copyin(a, sizeof a) == a && acc_is_present(b, sizeof b));
    acc_delete(a, sizeof a);
    acc_set_device_type(acc_device_default);
    CHECK(!acc_is_present(a, sizeof a));
}

static int data[n];

int main()
{
    CHECK(fails([] { acc2omp_begin("x.c:7", acc_async_sync), acc2omp_present("data", data, sizeof data); },
                "acc2omp: x.c:7: `data` ("));
    CHECK(fails([] { acc2omp_begin("x.c:8", acc_async_sync), acc2omp_present("data", data, sizeof data); },
                "4000 bytes) is not present on the device\n"));
    CHECK(fails(
        [] {
            acc2omp_begin("x.c:9", acc_async_sync);
            acc2omp_copyin("data", data, 100);
            acc2omp_begin("x.c:10", acc_async_sync);
            acc2omp_copyin("data", data + 1, 100);
        },
        "is present on the device only in part\nacc2omp: x.c:9: `data` ("));
    CHECK(fails([] { acc_copyin(data + 10, 100), acc_copyin(data, sizeof data); }, "only in part"));
    CHECK(fails([] { acc2omp_use_device("x.c:12", "data", data); }, "acc2omp: x.c:12: `data` ("));
    CHECK(acc2omp_use_device("x.c:14", "data", nullptr) == nullptr);
    CHECK(fails([] { acc_update_self(data, 4); }, "acc2omp: acc_update_self: ("));
    CHECK(fails(
        [] {
            acc2omp::Region region("x.c:11", acc_async_sync);
            region.pointer("data", data);
        },
        "acc2omp: x.c:11: `data` ("));
    CHECK(fails([] { acc_unmap_data(data); }, "was not mapped"));
    CHECK(fails([] { acc_copyin(data, 8), acc_map_data(data, data, 8); }, "is present already, from acc_copyin"));
    CHECK(fails([] { acc_set_device_num(999, acc_device_nvidia); }, "there is no CUDA device 999"));
    CHECK(fails(
        [] {
            acc2omp::Region region("x.c:12", acc_async_sync);
            launch(region, 1, 2000, add, region.copy("data", data, n), n, 1);
        },
        "acc2omp: x.c:12: a kernel cannot be started: invalid"));
    CHECK(fails([] { acc2omp_end(); }, "there is no open region"));
    clauses();
    counters();
    addresses();
    return finish();
}
