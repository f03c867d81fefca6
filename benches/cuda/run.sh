#!/bin/sh
# Runs the benchmarks that `cargo xtask cuda-bench DIR` put beside this file, three times each, and prints the best times
# in milliseconds, how much longer they are than those of CUDA by hand, and whether the checksums agree.
cd "$(dirname "$0")" || exit 2
export LD_LIBRARY_PATH="$PWD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# The best time and the checksum of a program; "- -" if there is none, "failed -" if it fails.
best() {
    [ -x "$1" ] || { echo "- -"; return; }
    for round in 1 2 3; do
        "./$1" || echo "$1 failed"
    done 2>"$1.err" | awk '
        $2 == "failed" { failed = 1 }
        NR == 1 || $2 < time { time = $2 }
        { checksum = $3 }
        END { if (failed || NR == 0) print "failed -"; else print time, checksum }'
}

printf '%-12s %10s %10s %7s %10s %7s  %s\n' name hand acc2omp ratio gcc ratio checksums
for program in *.acc2omp; do
    name=${program%.acc2omp}
    # Variants in OpenACC have one original by hand.
    hand=$(best "${name%%-*}.hand")
    echo "$name $hand $(best "$program") $(best "$name.gcc")"
done | awk '
    function ratio(time) { return time + 0 > 0 && $2 + 0 > 0 ? sprintf("%.2f", time / $2) : "-" }
    function same(a, b,  d) { d = a - b; if (d < 0) d = -d; return a == "-" || b == "-" || d <= 1e-9 * (b < 0 ? -b : b) }
    {
        agree = same($5, $3) && same($7, $3) ? "agree" : "DIFFER: " $3 " " $5 " " $7
        printf "%-12s %10s %10s %7s %10s %7s  %s\n", $1, $2, $4, ratio($4), $6, ratio($6), agree
        fflush()
    }'

# The kernels of a program, in order: milliseconds of each by itself, the best of all launches. The events around a launch
# add some microseconds.
kernels() {
    ACC2OMP_TIMES=1 "./$1" 2>&1 >/dev/null | sed -n 's/^acc2omp: .*:\([0-9]*\): .* best \([0-9.]*\) ms.*/\1 \2/p' | sort -n | cut -d' ' -f2
}

# The two kernels of a step of jacobi, by the bytes that each must move: both read a field and write one. The copy moves
# 2^32 bytes.
printf '\n%-12s %10s %10s %22s %20s\n' kernel ms GB/s 'of the copy by hand' 'of copy.acc2omp'
set -- $(best copy.hand) $(kernels copy.acc2omp) $(kernels jacobi.acc2omp)
[ $# = 5 ] && awk -v hand="$1" -v own="$3" -v relax="$4" -v back="$5" 'BEGIN {
    copied = 2 ^ 32
    row("copy.hand", hand, copied)
    row("copy", own, copied)
    row("jacobi 1", relax, 8 * (4096 * 4096 - 4 + 4094 * 4094))
    row("jacobi 2", back, 8 * 2 * 4094 * 4094)
}
function share(rate, time) { return time + 0 > 0 ? sprintf("%.1f %%", 100 * rate / (copied / time)) : "-" }
function row(name, time, bytes) {
    printf "%-12s %10s %10.0f %22s %20s\n", name, time, bytes / time / 1e6, share(bytes / time, hand), share(bytes / time, own)
}'
