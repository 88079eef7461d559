//! A compiler with std for wasm32-unknown-unknown.
//!
//! Two ways lead there. Where rustup reaches its host, the toolchain gets the target.
//! Where it does not, Debian's `rustc-web` and `rust-web-src` compile std from source
//! (`-Zbuild-std`) and link with the linker of the installed toolchain or Debian's lld.

use super::debian;
use crate::failure::{Failure, Result};
use crate::process::{capture, cargo, find_on_path, program, succeeds_within};
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The browser's target.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// How long rustup may take; without a network it goes on trying.
const RUSTUP_LIMIT: Duration = Duration::from_mins(3);

const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_STD_SOURCE: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";

/// What builds wasm on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WasmToolchain {
    /// The toolchain that runs this program has the target.
    Installed,
    /// Debian's compiler with std from source.
    Debian {
        /// What links.
        linker: PathBuf,
    },
}

impl fmt::Display for WasmToolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed => f.write_str("the installed toolchain's"),
            Self::Debian { linker } => write!(f, "Debian's rustc-web, std from source, linked by {}", linker.display()),
        }
    }
}

impl WasmToolchain {
    /// `cargo build` for the target with these compiler flags; package, profile and
    /// target directory are the caller's.
    pub(crate) fn cargo_build(&self, flags: &[String]) -> Command {
        let mut command = match self {
            Self::Installed => cargo(),
            Self::Debian { .. } => program(DEBIAN_CARGO),
        };
        command.args(["build", "--target", TARGET]);
        // Flags meant for the native build are not meant for this one.
        for variable in ["RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_BUILD_RUSTFLAGS"] {
            command.env_remove(variable);
        }
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        if let Self::Debian { linker } = self {
            for variable in ["RUSTUP_TOOLCHAIN", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "CARGO_BUILD_RUSTC"] {
                command.env_remove(variable);
            }
            command.arg("-Zbuild-std=std,panic_abort");
            command.env("RUSTC_BOOTSTRAP", "1").env("RUSTC", DEBIAN_RUSTC);
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        command
    }
}

/// Finds a compiler for the target, or installs one. `GINGHAM_WASM_TOOLCHAIN` set to
/// `rustup` or `debian` leaves no choice.
pub(crate) fn wasm_toolchain() -> Result<WasmToolchain> {
    let (rustup, debian) = match env::var("GINGHAM_WASM_TOOLCHAIN").as_deref() {
        Ok("rustup") => (true, false),
        Ok("debian") => (false, true),
        Ok(other) if !other.is_empty() => {
            return Err(Failure::new(format!(
                "GINGHAM_WASM_TOOLCHAIN is `{other}`; it is `rustup`, `debian` or unset"
            )));
        }
        _ => (true, true),
    };
    if rustup && target_is_installed() {
        return Ok(WasmToolchain::Installed);
    }
    // Before trying rustup: where Debian's was installed, rustup has failed before.
    if debian && let Some(found) = debian_toolchain() {
        return Ok(found);
    }
    if rustup && find_on_path(&["rustup"]).is_some() {
        eprintln!("adding the target {TARGET} to the Rust toolchain");
        if succeeds_within(program("rustup").args(["target", "add", TARGET]), RUSTUP_LIMIT) && target_is_installed() {
            return Ok(WasmToolchain::Installed);
        }
        eprintln!("rustup could not add it");
    }
    if !debian {
        return Err(Failure::new(format!("no std for wasm. Run: rustup target add {TARGET}")));
    }
    debian::install(&DEBIAN_PACKAGES, "the wasm target's compiler")?;
    if linker().is_none() {
        debian::install(&["lld"], "linking wasm")?;
    }
    debian_toolchain().ok_or_else(|| {
        Failure::new(format!(
            "{DEBIAN_RUSTC} is not Rust {} or newer with its source. Run where there is a network: rustup target add {TARGET}",
            env!("CARGO_PKG_RUST_VERSION")
        ))
    })
}

fn target_is_installed() -> bool {
    sysroot().is_some_and(|sysroot| sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir())
}

fn sysroot() -> Option<PathBuf> {
    let path = capture(program("rustc").args(["--print", "sysroot"])).ok()?;
    Some(PathBuf::from(path.trim()))
}

fn debian_toolchain() -> Option<WasmToolchain> {
    let version = capture(program(DEBIAN_RUSTC).env_remove("RUSTUP_TOOLCHAIN").arg("--version")).ok()?;
    let complete = Path::new(DEBIAN_STD_SOURCE).is_file() && Path::new(DEBIAN_CARGO).is_file();
    if complete && version_of(&version)? >= version_of(env!("CARGO_PKG_RUST_VERSION"))? {
        return linker().map(|linker| WasmToolchain::Debian { linker });
    }
    None
}

/// The linker that ships inside the installed toolchain, else Debian's.
fn linker() -> Option<PathBuf> {
    let shipped = sysroot().and_then(|sysroot| {
        let targets = sysroot.join("lib/rustlib").read_dir().ok()?;
        targets.flatten().map(|target| target.path().join("bin/rust-lld")).find(|path| path.is_file())
    });
    shipped.or_else(|| find_on_path(&["wasm-ld", "wasm-ld-19", "wasm-ld-16", "wasm-ld-14"]))
}

/// Major and minor of the first word that looks like a version.
fn version_of(text: &str) -> Option<(u32, u32)> {
    text.split_whitespace().find_map(|word| {
        let mut parts = word.split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    })
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn versions_compare_by_number() {
        assert_eq!(version_of("rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)"), Some((1, 96)));
        assert_eq!(version_of("1.95"), Some((1, 95)));
        assert!(version_of("rustc 1.100.0") > version_of("1.95"));
        assert_eq!(version_of("no version"), None);
    }
}
