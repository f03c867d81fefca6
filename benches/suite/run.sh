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
    sum[$1, $2 "." $3 "." $4] = $6
    if (!(($1, $2 $3 $4) in said)) { said[$1, $2 $3 $4] = 1; sums[$1] = sums[$1] " " $2 "." $3 "." $4 }
}
function word(x) { return x == "" ? "-" : x }
function is_time(x) { return x ~ /^[0-9.]+$/ && x + 0 > 0 }
# The ratio of two times, which counts for the geometric mean of its column in its language, and is told if it is not as it should be.
function ratio(row, column, a, b, least, most,  value, language) {
    if (!is_time(a) || !is_time(b)) return "-"
    value = a / b
    language = row
    sub(/.*\./, "", language)
    logs[column, language] += log(value)
    many[column, language]++
    if (value < least || value > most) remarkable = remarkable sprintf("%s: %s is %.2f\n", row, column, value)
    return sprintf("%.2f", value)
}
function mean(column, language) {
    return many[column, language] ? sprintf("%.2f", exp(logs[column, language] / many[column, language])) : "-"
}
function near(a, b,  d) { d = a - b; return (d < 0 ? -d : d) <= 1e-5 * (b < 0 ? -b : b) }
# The head of a table, whose columns have these names.
function head(names,  all, i, n) {
    n = split(names, all, ",")
    printf "\n| %-18s |", all[1]
    for (i = 2; i <= n; i++) printf " %10s |", all[i]
    printf "\n| --- |"
    for (i = 2; i <= n; i++) printf " ---: |"
    print ""
}
function times(row,  w, s) {
    printf "| %-18s | %10s |", row, word(hand[program[row]])
    for (w = 1; w <= 3; w++) for (s = 1; s <= 3; s++) printf " %10s |", word(time[row, styles[s], ways[w]])
    print ""
}
function ratios(row,  w, s, cuda) {
    cuda = time[row, "directed", "cuda"]
    printf "| %-18s | %10s |", row, ratio(row, "cuda/hand", cuda, hand[program[row]], 0, 1e9)
    for (w = 1; w <= 2; w++)
        for (s = 2; s <= 3; s++)
            printf " %10s |", ratio(row, ways[w] " " short[s] "/d", time[row, styles[s], ways[w]], time[row, "directed", ways[w]], 0, 1.15)
    for (w = 2; w <= 3; w++)
        for (s = 1; s <= 3; s++)
            printf " %10s |", ratio(row, ways[w] "/cuda " short[s], time[row, styles[s], ways[w]], time[row, styles[s], "cuda"], w == 3 ? 1 : 0, 1e9)
    print ""
}
function means(language,  w, s) {
    printf "| %-18s | %10s |", "mean of " language, mean("cuda/hand", language)
    for (w = 1; w <= 2; w++) for (s = 2; s <= 3; s++) printf " %10s |", mean(ways[w] " " short[s] "/d", language)
    for (w = 2; w <= 3; w++) for (s = 1; s <= 3; s++) printf " %10s |", mean(ways[w] "/cuda " short[s], language)
    print ""
}
# Says which checksums of a program differ from its first.
function checksums(name,  all, n, i, first) {
    n = split(sums[name], all, " ")
    for (i = 1; i <= n; i++) {
        if (sum[name, all[i]] == "-") continue
        compared++
        if (first == "") first = all[i]
        else if (!near(sum[name, all[i]], sum[name, first])) {
            print "CHECKSUMS DIFFER: " name ": " sum[name, all[i]] " (" all[i] "), " sum[name, first] " (" first ")"
            wrong = 1
        }
    }
}
END {
    split("directed outer kernels", styles, " ")
    split("d o k", short, " ")
    split("cuda omp acc", ways, " ")
    print "milliseconds; d: directed, o: outer only, k: kernels; acc: OpenACC by gcc"
    head("program,by hand,cuda d,cuda o,cuda k,omp d,omp o,omp k,acc d,acc o,acc k")
    for (r = 1; r <= count; r++) times(rows[r])
    head("ratios,cuda/hand,cuda o/d,cuda k/d,omp o/d,omp k/d,omp/cuda d,omp/cuda o,omp/cuda k,acc/cuda d,acc/cuda o,acc/cuda k")
    for (r = 1; r <= count; r++) ratios(rows[r])
    means("c")
    means("f90")
    if (remarkable != "") printf "\nstyles beyond 1.15 times of directed, and programs that gcc makes faster:\n%s", remarkable
    print ""
    for (name in sums) checksums(name)
    if (!wrong) print compared + 0 " checksums compared, all agree"
    exit wrong
}' "$times"
