//! What only web/tests calls, built with the feature `testing`.

use crate::opfs::OpfsVfs;
use gingham::vfs::contract;
use wasm_bindgen::prelude::wasm_bindgen;
use web_sys::FileSystemSyncAccessHandle;

/// Runs the contract that every file system passes over one open, empty file. A
/// difference panics, which ends the module with a message.
#[wasm_bindgen]
pub fn run_vfs_contract(handle: FileSystemSyncAccessHandle) {
    let vfs = OpfsVfs::new(vec!["vfs-contract".into()], vec![handle]).expect("the handle is open");
    contract::run(&vfs);
}
