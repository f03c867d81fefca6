//! The command line as a page.
//!
//! Invariant: made of clap's definition, which `--help` and the manual page are made of, too.

use clap::{Arg, Command};

/// The name of the page.
pub const PAGE: &str = "command-line.md";

/// The page.
pub fn page() -> String {
    let mut command = acc2omp::cli::command();
    // Names the subcommands in full, and gives each its usage.
    command.build();
    let mut out = "# The command line\n".to_owned();
    section(&mut out, &mut command, 2);
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    for name in names.iter().filter(|name| *name != "help") {
        if let Some(one) = command.find_subcommand_mut(name) {
            section(&mut out, one, 2);
        }
    }
    out
}

fn section(out: &mut String, command: &mut Command, level: usize) {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    *out += &format!("\n{} `{name}`\n\n", "#".repeat(level));
    if let Some(about) = command.get_about() {
        *out += &format!("{}\n\n", escaped(&about.to_string()));
    }
    *out += &format!("```text\n{}\n```\n", command.render_usage());
    let mut heading = None;
    let mut args: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    // In the order of their definition, group by group.
    let groups: Vec<Option<&str>> = args.iter().map(|arg| arg.get_help_heading()).collect();
    args.sort_by_key(|arg| groups.iter().position(|group| *group == arg.get_help_heading()));
    for arg in args {
        let group =
            arg.get_help_heading().unwrap_or(if arg.is_positional() { "Arguments" } else { "Options" });
        if heading != Some(group) {
            *out += &format!("\n| {group} | |\n| --- | --- |\n");
            heading = Some(group);
        }
        *out += &row(arg);
    }
    if let Some(after) = command.get_after_help() {
        *out += &format!("\n{}\n", escaped(&after.to_string()));
    }
}

fn row(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("`-{short}`"));
    let long = arg.get_long().map(|long| format!("`--{long}`"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let takes_value = arg.get_action().takes_values();
    let values = arg.get_value_names().unwrap_or_default().iter().map(|name| format!("`<{name}>`"));
    let values = if takes_value { values.collect::<Vec<_>>().join(" ") } else { String::new() };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let mut said = vec![format!("{}.", escaped(help.trim_end_matches('.')))];
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if takes_value && !defaults.is_empty() {
        said.push(format!("Default: `{}`.", defaults.join(" ")));
    }
    let possible = arg.get_possible_values();
    if takes_value && !possible.is_empty() {
        let names: Vec<String> = possible.iter().map(|value| format!("`{}`", value.get_name())).collect();
        said.push(format!("Values: {}.", names.join(", ")));
    }
    let name = format!("{} {values}", names.join(", "));
    format!("| {} | {} |\n", name.trim().replace('|', "\\|"), said.join(" ").replace('|', "\\|"))
}

/// A text in which no word is taken for an element of HTML.
fn escaped(text: &str) -> String {
    let pieces = text.replace('\n', " ");
    let outside = |piece: &str| piece.replace('<', "&lt;");
    let pieces = pieces.split('`').enumerate();
    pieces.map(|(at, piece)| if at % 2 == 0 { outside(piece) } else { format!("`{piece}`") }).collect()
}
