//! Launches that run-time libraries report.
//!
//! Invariant: what is expected is spelled out here, and not taken from the code.

#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn launches_are_read() {
    let said = "1.5\n\"PluginInterface\" device 0 info: Launching kernel __omp_offloading_fe00_9bc03d_my_main_l3 with 1 blocks and 1 threads in Generic mode\n\
                acc2omp: jacobi.c:28: 201 launches, 18.2 ms, each 0.0905 ms, best 0.0897 ms\n\
                launch CUDA kernel  file=/s/a.c function=f line=12 device=0 threadid=1\n\
                \x20 nvptx_exec: kernel main$_omp_fn$0: launch gangs=1, workers=1\n\
                ACC: Execute kernel f_$ck_L12_1 async(auto) from b.c:12\n";
    let mut launches = Launches::new();
    assert_eq!(take(said, &mut launches), "1.5\n");
    let places: Vec<_> =
        launches.iter().map(|(origin, count)| (origin.file.as_deref(), origin.line, *count)).collect();
    let expected = [
        (None, None, 1),
        (None, Some(3), 1),
        (Some("/s/a.c"), Some(12), 1),
        (Some("b.c"), Some(12), 1),
        (Some("jacobi.c"), Some(28), 201),
    ];
    assert_eq!(places, expected);
    assert_eq!(launches.keys().nth(1).unwrap().function.as_deref(), Some("my_main"));
}

#[test]
fn a_construct_without_a_launch_is_found() {
    let construct =
        |line| Construct { file: "src/a.c".to_owned(), lines: (line, line + 1), name: String::new() };
    let all = [construct(3), construct(9)];
    let origin = Origin { line: Some(4), ..Origin::default() };
    let silent = never_ran(&all, &Launches::from([(origin, 1)])).unwrap();
    assert_eq!(silent.iter().map(|one| one.lines.0).collect::<Vec<_>>(), [9]);
    assert!(never_ran(&all, &Launches::from([(Origin::default(), 1)])).is_none());
}
