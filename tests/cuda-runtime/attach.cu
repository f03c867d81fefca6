// Attach and detach: structured and dynamic, counted, and what transfers of the holder leave alone.
#include "check.h"

constexpr int n = 100;

struct Holder {
    int before;
    int *a;
    int after;
    int *b;
};

static __global__ void touch(Holder *holder)
{
    int i = static_cast<int>(threadIdx.x);
    if (i < n) {
        holder->a[i] += holder->before;
        if (holder->b)
            holder->b[i] += holder->after;
    }
}

static __global__ void touch_end(Holder *holder)
{
    int i = static_cast<int>(threadIdx.x);
    if (50 <= i && i < n)
        holder->a[i] += holder->before;
}

static void run(Holder *holder)
{
    acc2omp::Region region("attach.cu:1", acc_async_sync);
    launch(region, 1, 128, touch, region.present("holder", holder, 1));
}

int main()
{
    static int a[n], b[n];
    Holder holder = {1, a, 2, b};

    // Of a region, twice: the inner one counts only.
    acc2omp_begin("attach.cu:2", acc_async_sync);
    acc2omp_copy("holder", &holder, sizeof holder);
    acc2omp_copy("holder.a", holder.a, sizeof a);
    acc2omp_attach("holder.a", &holder.a);
    acc2omp_begin("attach.cu:3", acc_async_sync);
    acc2omp_copy("holder.a", holder.a, sizeof a);
    acc2omp_attach("holder.a", &holder.a);
    acc2omp_copy("holder.b", holder.b, sizeof b);
    acc2omp_attach("holder.b", &holder.b);
    run(&holder);
    // Transfers of the holder keep both sides' pointers.
    holder.before = 10;
    acc_update_device(&holder, sizeof holder);
    run(&holder);
    acc_update_self(&holder, sizeof holder);
    CHECK(holder.a == a && holder.b == b && holder.before == 10);
    acc2omp_end();
    CHECK(b[0] == 4 && b[n - 1] == 4 && a[0] == 0);
    // b is detached, and the device's pointer is the host's again: nothing there may follow it. a is still attached.
    holder.b = nullptr;
    acc_update_device(&holder, sizeof holder);
    run(&holder);
    acc2omp_end();
    CHECK(a[0] == 21 && a[n - 1] == 21 && holder.a == a && holder.b == nullptr && b[0] == 4);

    // Dynamic; finalize; a target that changes.
    holder.b = b;
    acc_copyin(&holder, sizeof holder);
    acc_copyin(a, sizeof a);
    acc_copyin(b, sizeof b);
    acc_attach(reinterpret_cast<void **>(&holder.a));
    acc_attach(reinterpret_cast<void **>(&holder.a));
    acc_attach_async(reinterpret_cast<void **>(&holder.b), 1);
    acc_wait(1);
    run(&holder);
    acc_detach(reinterpret_cast<void **>(&holder.a));
    run(&holder);
    holder.a = b;
    acc_attach(reinterpret_cast<void **>(&holder.a));
    run(&holder);
    acc_detach_finalize(reinterpret_cast<void **>(&holder.a));
    acc_detach(reinterpret_cast<void **>(&holder.b));
    acc_copyout(b, sizeof b);
    acc_copyout(a, sizeof a);
    acc_copyout(&holder, sizeof holder);
    CHECK(a[0] == 21 + 20 && b[0] == 4 + 3 * 2 + 10 && holder.a == b && holder.b == b);

    // A section that begins behind what the pointer points to.
    holder = {1, a, 2, nullptr};
    a[0] = a[50] = 0;
    acc2omp_begin("attach.cu:4", acc_async_sync);
    acc2omp_copy("holder", &holder, sizeof holder);
    acc2omp_copy("holder.a", holder.a + 50, 50 * sizeof(int));
    acc2omp_attach("holder.a", &holder.a);
    {
        acc2omp::Region region("attach.cu:5", acc_async_sync);
        launch(region, 1, 128, touch_end, region.present("holder", &holder, 1));
    }
    acc2omp_end();
    CHECK(a[50] == 1 && a[0] == 0 && holder.a == a);

    // Nothing to attach, or nowhere.
    int *nothing = nullptr, *here = a;
    acc_attach(reinterpret_cast<void **>(&here));
    acc_copyin(&nothing, sizeof nothing);
    acc_attach(reinterpret_cast<void **>(&nothing));
    acc_detach(reinterpret_cast<void **>(&nothing));
    acc_delete(&nothing, sizeof nothing);
    return finish();
}
