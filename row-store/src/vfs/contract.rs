//! What every file system must do, as one function that each implementation's tests
//! call. It panics with a description of the first difference.

use super::{OpenMode, Vfs, VfsFile};
use crate::Error;

/// The file the suite works on; it is deleted at the end.
const NAME: &str = "vfs-contract";

/// Runs the suite. `vfs` must not have a file called `vfs-contract`.
pub fn run(vfs: &dyn Vfs) {
    assert_eq!(vfs.exists(NAME), Ok(false));
    absent_files_are_named(vfs);
    writes_are_read_back(vfs);
    lengths_can_be_set(vfs);
    one_writer_owns_a_file(vfs);
    readers_share_and_cannot_write(vfs);
    closed_files_refuse_everything(vfs);
    vfs.delete(NAME).expect("delete");
    assert_eq!(vfs.exists(NAME), Ok(false), "a deleted file is gone");
}

fn open(vfs: &dyn Vfs, mode: OpenMode) -> Box<dyn VfsFile> {
    vfs.open(NAME, mode).expect("open")
}

fn absent_files_are_named(vfs: &dyn Vfs) {
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        assert_eq!(vfs.open(NAME, mode).err(), Some(Error::NotFound(NAME.into())), "{mode:?}");
    }
    assert_eq!(vfs.delete(NAME), Err(Error::NotFound(NAME.into())));
}

fn writes_are_read_back(vfs: &dyn Vfs) {
    let mut file = open(vfs, OpenMode::Create);
    assert_eq!(vfs.exists(NAME), Ok(true));
    assert_eq!((file.len(), file.is_empty()), (Ok(0), Ok(true)));
    file.write_at(0, b"hello").expect("write");
    file.write_at(3, b"p me").expect("overwrite and extend");
    file.write_at(200_000, b"far").expect("leave a gap");
    file.write_at(7, b"").expect("write nothing");
    assert_eq!(file.len(), Ok(200_003));
    let mut start = [0; 8];
    file.read_at(0, &mut start).expect("read");
    assert_eq!(&start, b"help me\0", "the gap reads as zeros");
    let mut gap = vec![1; 199_990];
    file.read_at(10, &mut gap).expect("read the gap");
    assert!(gap.iter().all(|byte| *byte == 0));
    file.read_at(200_003, &mut []).expect("read nothing at the end");
    let mut beyond = [0; 4];
    assert!(file.read_at(200_000, &mut beyond).is_err(), "a read past the end is an error, not short");
    assert!(file.read_at(u64::MAX - 1, &mut beyond).is_err());
    file.sync().expect("sync");
    drop(file);

    let mut file = open(vfs, OpenMode::ReadWrite);
    let mut tail = [0; 3];
    file.read_at(200_000, &mut tail).expect("read after reopening");
    assert_eq!(&tail, b"far");
    let large: Vec<u8> = (0..(1 << 20) + 5).map(|at: u32| at as u8).collect();
    file.write_at(9, &large).expect("a large write");
    let mut found = vec![0; large.len()];
    file.read_at(9, &mut found).expect("a large read");
    assert_eq!(found, large);
    file.close().expect("close");
}

fn lengths_can_be_set(vfs: &dyn Vfs) {
    let mut file = open(vfs, OpenMode::Create);
    assert!(file.len().expect("len") > 100, "opening to create keeps what is there");
    file.set_len(4).expect("cut");
    assert_eq!(file.len(), Ok(4));
    file.set_len(100).expect("extend");
    let mut bytes = [1; 96];
    file.read_at(4, &mut bytes).expect("read");
    assert_eq!(bytes, [0; 96], "what was cut does not come back");
    assert!(file.read_at(4, &mut [0; 97]).is_err());
    file.sync().expect("sync");
}

fn one_writer_owns_a_file(vfs: &dyn Vfs) {
    let mut owner = open(vfs, OpenMode::ReadWrite);
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite, OpenMode::Create] {
        assert_eq!(vfs.open(NAME, mode).err(), Some(Error::Locked(NAME.into())), "{mode:?}");
    }
    assert_eq!(vfs.delete(NAME), Err(Error::Locked(NAME.into())));
    owner.close().expect("close");
    drop(open(vfs, OpenMode::ReadWrite));
    owner.close().expect("closing twice is no error");
    drop(owner);
    drop(open(vfs, OpenMode::Create));
}

fn readers_share_and_cannot_write(vfs: &dyn Vfs) {
    let (mut one, mut two) = (open(vfs, OpenMode::ReadOnly), open(vfs, OpenMode::ReadOnly));
    let (mut a, mut b) = ([0; 4], [0; 4]);
    one.read_at(0, &mut a).expect("read");
    two.read_at(0, &mut b).expect("read");
    assert_eq!(a, b);
    assert_eq!(one.write_at(0, b"x"), Err(Error::ReadOnly));
    assert_eq!(one.set_len(0), Err(Error::ReadOnly));
    assert_eq!(vfs.open(NAME, OpenMode::ReadWrite).err(), Some(Error::Locked(NAME.into())));
}

fn closed_files_refuse_everything(vfs: &dyn Vfs) {
    let mut file = open(vfs, OpenMode::ReadWrite);
    file.close().expect("close");
    assert_eq!(file.read_at(0, &mut [0]), Err(Error::Closed));
    assert_eq!(file.write_at(0, b"x"), Err(Error::Closed));
    assert_eq!(file.set_len(0), Err(Error::Closed));
    assert_eq!(file.sync(), Err(Error::Closed));
    assert_eq!(file.len(), Err(Error::Closed));
}
