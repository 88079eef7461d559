//! Every file system of this crate against the one contract.

use gingham_row_store::vfs::contract;
use gingham_row_store::vfs::fault::FaultVfs;
use gingham_row_store::{MemoryVfs, NativeVfs};

#[test]
fn memory() {
    contract::run(&MemoryVfs::new());
}

#[test]
fn fault() {
    contract::run(&FaultVfs::new());
}

#[test]
fn native() {
    let directory = std::env::temp_dir().join(format!("gingham-vfs-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("temporary directory");
    contract::run(&NativeVfs::new(&directory));
    std::fs::remove_dir_all(&directory).expect("remove");
}
