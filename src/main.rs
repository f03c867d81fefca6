//! stub
fn main() { let p = std::env::args().nth(1).unwrap(); let s = acc2omp::Source::new(&p, std::fs::read(&p).unwrap(), acc2omp::source::Language::C);
 let t = acc2omp::translate(&s, &acc2omp::Options::default()); print!("{}", String::from_utf8_lossy(&t.text)); for d in t.diagnostics { eprintln!("{} {:?} {} {}", d.code, s.file.lines.line_column(d.primary.span.start), d.message, d.help) } }
