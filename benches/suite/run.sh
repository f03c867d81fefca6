#!/bin/sh
# Runs the programs that `cargo xtask bench-gpu DIR` put beside this file, three times each, and prints the best times in
# milliseconds, what they are to each other, and which checksums differ.
#   run.sh [PATTERN...]    only the programs with such names, as 'jacobi.*' or '*.f90.*'; PROGRAM.LANGUAGE.STYLE.WAY
#   run.sh -t              the table of what was run before
# What each run has found is kept in times.txt (or $TIMES). A program is stopped after 20 seconds (or $LIMIT), and not run
# again when all its runs have taken so long.
cd "$(dirname "$0")" || exit 2
times=${TIMES:-times.txt}
limit=${LIMIT:-20}
runs=${RUNS:-3}
export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# A program that finds no GPU fails.
export OMP_TARGET_OFFLOAD=MANDATORY ACC_DEVICE_TYPE=nvidia

# LLVM's library looks for the driver by the name that only developers' packages have.
driver() {
    for place in $(ldconfig -p 2>/dev/null | sed -n 's/.*libcuda\.so\.1 .*=> //p') /usr/lib/x86_64-linux-gnu/libcuda.so.1 \
        /usr/lib64/libcuda.so.1 /usr/local/nvidia/lib64/libcuda.so.1 /usr/local/cuda/compat/libcuda.so.1; do
        [ -e "$place" ] && { echo "$place"; return; }
    done
}
[ -e lib/libcuda.so ] || { place=$(driver) && [ -n "$place" ] && ln -sf "$place" lib/libcuda.so; }

# The best time of a program and its checksum, or why there is none.
best() {
    begin=$(date +%s)
    for round in $(seq "$runs"); do
        [ $(($(date +%s) - begin)) -lt "$limit" ] || break
        timeout -k 2 "$limit" "bin/$1" 2>"bin/$1.err"
        case $? in
            0) ;;
            124 | 137) echo "$1 stopped -"; break ;;
            *) echo "$1 failed -"; break ;;
        esac
    done | awk '
        $2 !~ /^[0-9.]+$/ { word = $2 }
        $2 ~ /^[0-9.]+$/ && (time == "" || $2 + 0 < time + 0) { time = $2 }
        $2 ~ /^[0-9.]+$/ { checksum = $3 }
        END { if (word != "") print word, "-"; else if (time == "") print "silent -"; else print time, checksum }'
    [ -s "bin/$1.err" ] || rm -f "bin/$1.err"
}

# Whether a name is asked for: by the patterns that come after it.
wanted() {
    name=$1
    shift
    [ $# = 0 ] && return 0
    for pattern; do
        case $name in $pattern) return 0 ;; esac
    done
    return 1
}

if [ "$1" != -t ]; then
    for program in bin/*; do
        name=${program#bin/}
        [ -x "$program" ] && wanted "$name" "$@" || continue
        line="$(echo "$name" | tr . ' ') $(best "$name")"
        echo "$line"
        echo "$line" >>"$times"
    done
fi

awk '
# PROGRAM LANGUAGE STYLE WAY TIME CHECKSUM; what was run later counts.
{
    row = $1 "." $2
    if ($2 == "cu") hand[$1] = $5
    else if (!(row in known)) { known[row] = 1; rows[++count] = row; program[row] = $1 }
    style = $3 == "single" ? "directed" : $3
    time[row, style, $4] = $5
    sum[$1, ++sums[$1]] = $6 " " $2 "." $3 "." $4
}
function word(x) { return x == "" ? "-" : x }
function is_time(x) { return x ~ /^[0-9.]+$/ && x + 0 > 0 }
# A ratio, which counts for the mean of its column.
function ratio(column, a, b) {
    if (!is_time(a) || !is_time(b)) return "-"
    logs[column] += log(a / b)
    many[column]++
    return sprintf("%.2f", a / b)
}
function mean(column) { return many[column] ? sprintf("%.2f", exp(logs[column] / many[column])) : "-" }
function near(a, b,  d) { d = a - b; return (d < 0 ? -d : d) <= 1e-6 * (b < 0 ? -b : b) }
END {
    split("directed outer kernels", styles, " ")
    split("cuda omp acc", ways, " ")
    print "\nmilliseconds; d: directed, o: outer only, k: kernels; acc is OpenACC by gcc"
    printf "%-20s %9s", "program", "by hand"
    for (w = 1; w <= 3; w++) for (s = 1; s <= 3; s++) printf " %9s", ways[w] " " substr(styles[s], 1, 1)
    print ""
    for (r = 1; r <= count; r++) {
        row = rows[r]
        printf "%-20s %9s", row, word(hand[program[row]])
        for (w = 1; w <= 3; w++) for (s = 1; s <= 3; s++) printf " %9s", word(time[row, styles[s], ways[w]])
        print ""
    }
    print "\nratios"
    printf "%-20s %9s", "program", "cuda/hand"
    printf " %9s %9s %9s %9s", "cuda o/d", "cuda k/d", "omp o/d", "omp k/d"
    for (w = 2; w <= 3; w++) for (s = 1; s <= 3; s++) printf " %10s", ways[w] "/cuda " substr(styles[s], 1, 1)
    print ""
    for (r = 1; r <= count; r++) {
        row = rows[r]
        printf "%-20s %9s", row, ratio("hand", time[row, "directed", "cuda"], hand[program[row]])
        for (w = 1; w <= 2; w++)
            for (s = 2; s <= 3; s++)
                printf " %9s", ratio(ways[w] s, time[row, styles[s], ways[w]], time[row, "directed", ways[w]])
        for (w = 2; w <= 3; w++)
            for (s = 1; s <= 3; s++)
                printf " %10s", ratio(ways[w] "/" s, time[row, styles[s], ways[w]], time[row, styles[s], "cuda"])
        print ""
    }
    printf "%-20s %9s %9s %9s %9s %9s", "geometric mean", mean("hand"), mean("cuda2"), mean("cuda3"), mean("omp2"), mean("omp3")
    for (w = 2; w <= 3; w++) for (s = 1; s <= 3; s++) printf " %10s", mean(ways[w] "/" s)
    print ""
    for (name in sums) {
        first = ""
        for (i = 1; i <= sums[name]; i++) {
            split(sum[name, i], one, " ")
            if (one[1] == "-") continue
            if (first == "") { first = one[1]; by = one[2] }
            else if (!near(one[1], first)) { print "CHECKSUMS DIFFER: " name ": " one[1] " (" one[2] "), " first " (" by ")"; wrong = 1 }
        }
    }
    if (!wrong) print "\nall checksums agree"
    exit wrong
}' "$times"
