//! Where things are in the repository, and the hashes and stamps that spare doing the
//! same work twice.

use crate::failure::{Context, Failure, Result};
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// The repository.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the repository from the folder that cargo runs this program for, else from
    /// the current one. Not from a path compiled in: a target directory may be shared
    /// between clones.
    pub(crate) fn find() -> Result<Self> {
        let start = match env::var_os("CARGO_MANIFEST_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => env::current_dir().context(|| "reading the current folder".into())?,
        };
        let root = start.ancestors().find(|folder| folder.join("xtask/Cargo.toml").is_file());
        let root = root.ok_or_else(|| Failure::new("not inside the gingham repository"))?;
        Ok(Self { root: root.to_owned() })
    }

    /// The top folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the repository.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// What can be computed again: stamps and sizes by content. Ignored by git.
    pub(crate) fn cache(&self) -> PathBuf {
        self.path(".cache/xtask")
    }

    /// The npm package as it would be packed.
    pub(crate) fn package(&self) -> PathBuf {
        self.path(crate::wasm::PACKAGE)
    }

    /// Where wasm is built: apart from the native target directory, so that neither
    /// waits for the other's lock and its std is kept when the other is cleaned.
    pub(crate) fn wasm_target(&self) -> PathBuf {
        match env::var_os("GINGHAM_TARGET_WASM") {
            Some(folder) if !folder.is_empty() => self.root.join(folder),
            _ => self.path("target-wasm"),
        }
    }
}

/// A hash over things that some output was made from, in the order added.
pub(crate) struct Inputs(Xxh3);

impl Inputs {
    /// Over nothing yet.
    pub(crate) fn new() -> Self {
        Self(Xxh3::new())
    }

    /// Adds bytes, told from their neighbours by their length.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// Adds a file's contents; a file that is not there differs from an empty one.
    pub(crate) fn file(&mut self, path: &Path) -> Result<&mut Self> {
        match fs::read(path) {
            Ok(contents) => Ok(self.bytes(&[1]).bytes(&contents)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self.bytes(&[0])),
            Err(error) => Err(error).context(|| format!("reading {}", path.display())),
        }
    }

    /// Adds every file under a folder by relative path and contents, in order of path.
    /// Folders called as in `except` are left out.
    pub(crate) fn folder(&mut self, folder: &Path, except: &[&str]) -> Result<&mut Self> {
        for path in files_under(folder, except)? {
            self.bytes(path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().as_bytes());
            self.file(&path)?;
        }
        Ok(self)
    }

    /// The hash in hex.
    pub(crate) fn digest(&self) -> String {
        format!("{:032x}", self.0.digest128())
    }
}

/// The files under a folder, sorted; none if it is not there.
pub(crate) fn files_under(folder: &Path, except: &[&str]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).context(|| format!("reading {}", folder.display())),
        };
        for entry in entries {
            let entry = entry.context(|| format!("reading {}", folder.display()))?;
            let kind = entry.file_type().context(|| format!("reading {}", entry.path().display()))?;
            if kind.is_file() {
                files.push(entry.path());
            } else if kind.is_dir() && !except.iter().any(|name| entry.file_name() == *name) {
                folders.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// A file that remembers what some output was made from.
pub(crate) struct Stamp {
    path: PathBuf,
    digest: String,
}

impl Stamp {
    /// The stamp at `path` for these inputs.
    pub(crate) fn new(path: PathBuf, inputs: &Inputs) -> Self {
        Self { path, digest: inputs.digest() }
    }

    /// Whether the output was made from the same inputs.
    pub(crate) fn is_current(&self) -> bool {
        fs::read_to_string(&self.path).is_ok_and(|found| found == self.digest)
    }

    /// Forgets the output: it is being made anew and may be left half done.
    pub(crate) fn clear(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).context(|| format!("removing {}", self.path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Remembers that the output is made.
    pub(crate) fn set(&self) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).context(|| format!("creating {}", folder.display()))?;
        }
        fs::write(&self.path, &self.digest).context(|| format!("writing {}", self.path.display()))
    }
}
