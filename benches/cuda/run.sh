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
