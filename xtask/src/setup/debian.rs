//! Installing Debian's packages, or saying how.

use crate::failure::{Failure, Result};
use crate::process::{capture, find_on_path, line, program, run};
use std::process::Command;

/// Installs packages; `purpose` completes "needed for".
///
/// # Errors
/// If this machine is no Debian or Ubuntu, this process is not root, or the
/// installation fails. The first two name the one command to run.
pub(crate) fn install(packages: &[&str], purpose: &str) -> Result<()> {
    let mut install = apt_get();
    install.args(["install", "-y", "--no-install-recommends"]).args(packages);
    if find_on_path(&["apt-get"]).is_none() {
        return Err(Failure::new(format!(
            "{purpose} is missing. On Debian or Ubuntu it would be `{}`; install its like here",
            line(&install)
        )));
    }
    if !is_root() {
        return Err(Failure::new(format!("{purpose} is missing. Run: sudo {}", line(&install))));
    }
    eprintln!("installing Debian's {} for {purpose}", packages.join(", "));
    // The package lists may be missing or name versions that are gone.
    if run(&mut install).is_ok() {
        return Ok(());
    }
    run(apt_get().arg("update"))?;
    run(&mut install)
}

fn apt_get() -> Command {
    let mut command = program("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

fn is_root() -> bool {
    capture(program("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
