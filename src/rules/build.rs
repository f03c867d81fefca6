//! Compiles acc2omp anew where a page of `rules/` comes or goes.

fn main() {
    println!("cargo:rerun-if-changed=rules");
}
