//! Running other programs: with the environment that the user gave, not the one that
//! `cargo run` made for this program, and with every failure saying which command it was.

use crate::failure::{Context, Failure, Result};
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A program without the variables that `cargo run` sets for the program it runs.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    for (variable, _) in env::vars_os() {
        if variable.to_str().is_some_and(set_by_cargo_run) {
            command.env_remove(&variable);
        }
    }
    match library_path() {
        Some(path) => command.env("LD_LIBRARY_PATH", path),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
    command
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// `--locked` in continuous integration, where a lock file that does not match the
/// manifests is a mistake in the commit; nothing elsewhere.
pub(crate) fn locked() -> Option<&'static str> {
    let in_ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    in_ci.then_some("--locked")
}

fn set_by_cargo_run(variable: &str) -> bool {
    const EXACT: [&str; 6] =
        ["CARGO", "CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR", "RUST_RECURSION_COUNT"];
    EXACT.contains(&variable) || variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

/// `LD_LIBRARY_PATH` without the toolchain's and the target directory's entries, which
/// `cargo run` puts in front.
fn library_path() -> Option<OsString> {
    let own = env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let kept: Vec<PathBuf> = env::split_paths(&env::var_os("LD_LIBRARY_PATH")?)
        .filter(|entry| !entry.as_os_str().is_empty())
        .filter(|entry| !entry.components().any(|part| part.as_os_str() == ".rustup" || part.as_os_str() == "rustlib"))
        .filter(|entry| own.as_ref().is_none_or(|own| !entry.starts_with(own)))
        .collect();
    if kept.is_empty() { None } else { env::join_paths(kept).ok() }
}

/// The command as a person would type it.
pub(crate) fn line(command: &Command) -> String {
    let mut words = vec![Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy()];
    words.extend(command.get_args().map(OsStr::to_string_lossy));
    words.join(" ")
}

/// Runs a command to its end, its output shown.
///
/// # Errors
/// If it cannot be started or does not exit with 0.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", line(command));
    let status = command.status().context(|| format!("starting `{}`", line(command)))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{}` ended with {status}", line(command)))) }
}

/// Runs a command and returns what it wrote to standard output.
///
/// # Errors
/// If it cannot be started or does not exit with 0; the message has its standard error.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().context(|| format!("starting `{}`", line(command)))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!("`{}` ended with {}: {}", line(command), output.status, complaint.trim())))
}

/// Runs a command, its output shown, for at most `limit`; past that it is killed.
/// False if it could not be started, was killed or failed.
pub(crate) fn succeeds_within(command: &mut Command, limit: Duration) -> bool {
    eprintln!("$ {}", line(command));
    let Ok(mut child) = command.stdin(Stdio::null()).spawn() else { return false };
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < limit => thread::sleep(Duration::from_millis(100)),
            _ => {
                end(&mut child);
                return false;
            }
        }
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself in between, which is as good.
    let _ = child.kill();
    let _ = child.wait();
}

/// Runs a command to its end, shows its output and hands every line of it, both of
/// standard output and standard error, to `each`.
pub(crate) fn watch(command: &mut Command, mut each: impl FnMut(&str)) -> Result<ExitStatus> {
    eprintln!("$ {}", line(command));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context(|| format!("starting `{}`", line(command)))?;
    let (sender, lines) = mpsc::sync_channel(1024);
    if let Some(pipe) = child.stdout.take() {
        forward(pipe, sender.clone(), false);
    }
    if let Some(pipe) = child.stderr.take() {
        forward(pipe, sender, true);
    }
    let mut ended = None;
    loop {
        match lines.recv_timeout(Duration::from_secs(1)) {
            Ok((text, is_error)) => {
                // That no one reads this program's output is no reason to stop the other.
                let _ = if is_error {
                    writeln!(std::io::stderr(), "{text}")
                } else {
                    writeln!(std::io::stdout(), "{text}")
                };
                each(&text);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            // What a command leaves running may hold the pipes open long after it.
            Err(mpsc::RecvTimeoutError::Timeout) if ended.is_some() => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                ended = child.try_wait().context(|| format!("waiting for `{}`", line(command)))?;
            }
        }
    }
    child.wait().context(|| format!("waiting for `{}`", line(command)))
}

fn forward(pipe: impl Read + Send + 'static, lines: mpsc::SyncSender<(String, bool)>, is_error: bool) {
    thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            if lines.send((text, is_error)).is_err() {
                return;
            }
            bytes.clear();
        }
    });
}

/// The first of these names that is a program on `PATH`.
pub(crate) fn find_on_path(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    names.iter().find_map(|name| env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file)))
}

/// Whether a path is a file that may be run.
#[cfg(unix)]
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Whether a path is a file that may be run.
#[cfg(not(unix))]
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file()
}
