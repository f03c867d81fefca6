//! What a shell and `man` read about the command line.
//!
//! Invariant: made of the definition of the command line, and of nothing else.

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use super::{Verdict, fail, print};

/// Prints the completions for a shell.
pub fn completions(mut command: Command, shell: Shell) -> Verdict {
    let mut out = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(shell, &mut command, name, &mut out);
    print(&out)
}

/// Prints the manual page of the program, or that of a subcommand.
pub fn man(command: Command, topic: Option<&str>) -> Verdict {
    let mut command = command;
    // Names the subcommands in full.
    command.build();
    let page = match topic {
        None => Some(command.clone()),
        Some(name) => command.find_subcommand(name).cloned(),
    };
    let Some(page) = page else {
        return fail(&format!("there is no subcommand `{}`", topic.unwrap_or_default()));
    };
    let mut out = Vec::new();
    match Man::new(page).render(&mut out) {
        Ok(()) => print(&out),
        Err(error) => fail(&error.to_string()),
    }
}
