//! `cargo xtask ci`: what a change must pass. Every stage runs, whatever became of those
//! before it, so that one run tells everything.

use crate::arguments::Arguments;
use crate::failure::Result;
use crate::native;
use crate::process::{cargo, locked, run};
use crate::setup;
use crate::test::{self, Counts, Outcome, Ran};
use crate::tidy;
use crate::wasm;
use crate::workspace::Workspace;

/// `cargo xtask ci`.
pub(crate) fn command(workspace: &Workspace, arguments: Arguments) -> Result<()> {
    arguments.finish()?;
    let mut outcomes = vec![
        stage("format", || run(cargo().current_dir(workspace.root()).args(["fmt", "--all", "--check"]))),
        stage("tidy", || tidy::check(workspace)),
        stage("lints", || lints(workspace)),
        stage("wasm", || wasm::command(workspace, Arguments::new(Vec::new()))),
    ];
    outcomes.extend(setup::NPM_FOLDERS.iter().map(|folder| types(workspace, folder)));
    outcomes.extend(test::all(workspace));
    test::close(&outcomes)
}

fn stage(name: &str, check: impl FnOnce() -> Result<()>) -> Outcome {
    Outcome::of(name, || check().map(|()| Ran::Counted(Counts::one(true))))
}

fn lints(workspace: &Workspace) -> Result<()> {
    let mut clippy = cargo();
    clippy.current_dir(workspace.root()).args(["clippy", "--all-targets"]).args(native::EVERYTHING).args(locked());
    run(clippy.args(["--", "-D", "warnings"]))
}

/// The type check of a folder with JavaScript or TypeScript, where it has one.
fn types(workspace: &Workspace, folder: &str) -> Outcome {
    Outcome::of(&format!("types: {folder}"), || {
        // The folders use each other's modules.
        for each in setup::NPM_FOLDERS {
            setup::npm_packages(workspace, each)?;
        }
        match setup::npm_script(workspace, folder, "check")? {
            None => Ok(Ran::Nothing(format!("{folder} has no script `check`"))),
            Some(mut check) => run(&mut check).map(|()| Ran::Counted(Counts::one(true))),
        }
    })
}
