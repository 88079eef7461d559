//! Opening: making a new file, or finding the newest state of an existing one.

use crate::checkpoint::read_free_list;
use crate::directory::Directory;
use crate::extent_io::LastBlocks;
use crate::format::{LOG_PAGES_MAX, LOG_PAGES_MIN, MAGIC, META_SLOTS, PAGE_BYTES, WRITE_PAGES_MAX, meta};
use crate::log::{self, Change, ChangeReader, Log, Scan};
use crate::meta::{Meta, read_newest};
use crate::pager::{HolderKind, Pager, RunSet, StoreFile};
use crate::state::State;
use crate::tree;
use crate::vfs::VfsFile;
use crate::{Error, Result, StoreOptions, mutation};
use std::collections::HashMap;
use std::sync::Arc;

/// Opens the database in a file, making one if the file is empty.
pub(crate) fn open(file: Box<dyn VfsFile>, options: StoreOptions, ephemeral: bool) -> Result<State> {
    let mut file = StoreFile::new(file);
    let found = if file.len()? == 0 { Err(Error::NotADatabase) } else { read_newest(&mut file) };
    match found {
        Ok(meta) => recover(file, meta, options),
        // Before the first meta slot is durable nothing was acknowledged: begin again.
        Err(error) if options.read_only || !is_unfinished_creation(&mut file)? => Err(error),
        Err(_) => create(file, options, ephemeral),
    }
}

/// Whether a file is empty or a creation that a crash interrupted (REC-6): zeros, but
/// for what may be a part of the first meta slot.
#[inline(never)]
fn is_unfinished_creation(file: &mut StoreFile) -> Result<bool> {
    let length = file.len()?;
    if length > u64::from(META_SLOTS + LOG_PAGES_MAX) * PAGE_BYTES as u64 {
        return Ok(false);
    }
    let mut at = 0;
    while at < length {
        let mut part = vec![0; (length - at).min((WRITE_PAGES_MAX * PAGE_BYTES) as u64) as usize];
        file.read_at(at, &mut part)?;
        if at == 0 {
            let magic = &part[..part.len().min(MAGIC.len())];
            let is_ours = magic.iter().zip(MAGIC).all(|(found, ours)| *found == 0 || *found == ours);
            if !is_ours {
                return Ok(false);
            }
            // The slot is written only once all zeros are durable.
            if length >= u64::from(META_SLOTS + LOG_PAGES_MIN) * PAGE_BYTES as u64 {
                part[..meta::BYTES].fill(0);
            }
        }
        if part.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += part.len() as u64;
    }
    Ok(true)
}

#[inline(never)]
fn create(mut file: StoreFile, options: StoreOptions, ephemeral: bool) -> Result<State> {
    let log_pages = options.log_bytes.div_ceil(PAGE_BYTES as u32).clamp(LOG_PAGES_MIN, LOG_PAGES_MAX);
    let mut meta = Meta { log_pages, epoch: 1, next_tree: crate::directory::TREE_FIRST, ..Meta::default() };
    meta.file_pages = meta.data_first();
    let bytes = u64::from(meta.file_pages) * PAGE_BYTES as u64;
    let mut log = Log::foreign(meta.log_bytes(), 1, 0, 0);
    if ephemeral {
        file.set_len(bytes)?;
    } else {
        // Writing the log once makes the file system allocate it: later flushes change
        // no metadata.
        let zeros = vec![0; (WRITE_PAGES_MAX * PAGE_BYTES).min(bytes as usize)];
        let mut at = 0;
        while at < bytes {
            let part = zeros.len().min((bytes - at) as usize);
            file.write_at(at, &zeros[..part])?;
            at += part as u64;
        }
        if !mutation::is_active("creation flush") {
            file.sync()?;
        }
        meta.write(&mut file)?;
        file.sync()?;
        log.start_epoch(&mut file, 1, 0, meta.checksum)?;
    }
    let pager = Pager::new(file, meta.data_first(), meta.file_pages, RunSet::default(), options.cache_bytes_max);
    Ok(assemble(pager, log, meta, Directory::new(), options, ephemeral))
}

fn assemble(
    mut pager: Pager,
    log: Log,
    meta: Meta,
    mut directory: Directory,
    options: StoreOptions,
    ephemeral: bool,
) -> State {
    directory.version = pager.next_version();
    if !ephemeral {
        pager.hold(HolderKind::Disk, directory.version);
    }
    State {
        pager,
        log,
        meta,
        checkpoint_version: directory.version,
        checkpoint_count: 0,
        committed: Arc::new(directory),
        options,
        ephemeral,
        writer_open: false,
        extents_unsynced: false,
        recovered_unsynced: false,
        relaxed_since_ms: None,
        failure: None,
        extent_tables: HashMap::new(),
        last_blocks: LastBlocks::new(),
    }
}

/// Reads the newest checkpoint and replays the log of its epoch.
#[inline(never)]
fn recover(mut file: StoreFile, meta: Meta, options: StoreOptions) -> Result<State> {
    let region = log::read_region(&mut file, meta.log_bytes())?;
    let scan = log::scan(&region, meta.epoch, meta.checksum, meta.commit_sequence)?;

    let mut pager = Pager::new(file, meta.data_first(), meta.file_pages, RunSet::default(), options.cache_bytes_max);
    let free = read_free_list(&mut pager, &meta)?;
    let mut directory = Directory::decode(&mut pager, meta.directory_first, meta.directory_pages, meta.trees)?;
    directory.next_tree = directory.next_tree.max(meta.next_tree);
    directory.sequence = meta.commit_sequence;
    pager.set_free(free);
    let last = scan.commits.last();
    let end = last.map_or(0, |(_, payload)| payload.end as u64);
    let log = Log::foreign(meta.log_bytes(), meta.epoch, end, last.map_or(meta.commit_sequence, |commit| commit.0));
    let mut state = assemble(pager, log, meta, directory, options, false);
    // A process that was killed may have left the meta slot or the log unflushed.
    state.recovered_unsynced = true;
    if !scan.commits.is_empty() {
        replay(&mut state, &region, &scan)?;
    }
    if mutation::is_active("new epoch and log chain") {
        state.log.adopt(&scan, &meta);
    }
    Ok(state)
}

/// REC-4: applies the commits in order. Extents they wrote are in the file already, so
/// their pages are set aside before any page of a tree is given out.
#[inline(never)]
fn replay(state: &mut State, region: &[u8], scan: &Scan) -> Result<()> {
    let mut extents = Extents::default();
    for (_, payload) in &scan.commits {
        let mut reader = ChangeReader::new(&region[payload.clone()]);
        while let Some(change) = reader.next()? {
            if let Change::AddExtent { first, pages } = change
                && !mutation::is_active("logged extents are set aside")
            {
                extents.reserve(&mut state.pager, first, pages)?;
            }
        }
    }
    let mut directory = Directory::clone(&state.committed);
    for (sequence, payload) in &scan.commits {
        let mut reader = ChangeReader::new(&region[payload.clone()]);
        while let Some(change) = reader.next()? {
            apply(&mut state.pager, &mut directory, &mut extents, &change)?;
        }
        directory.sequence = *sequence;
    }
    extents.finish(&mut state.pager);
    state.pager.settle();
    directory.version = state.pager.next_version();
    state.committed = Arc::new(directory);
    Ok(())
}

#[inline(never)]
fn apply(pager: &mut Pager, directory: &mut Directory, extents: &mut Extents, change: &Change<'_>) -> Result<()> {
    let damaged = |error: Error| match error {
        corrupt @ Error::Corrupt { .. } => corrupt,
        other => Error::corrupt(crate::format::LOG_FIRST_PAGE, format!("a logged change cannot be applied: {other}")),
    };
    use crate::TreeId;
    let applied = match *change {
        Change::Put { tree, key, value } => directory
            .root_mut(TreeId(tree))
            .and_then(|root| tree::put(pager, root, key, value, tree::Mode::Put))
            .map(drop),
        Change::Delete { tree, key } => {
            directory.root_mut(TreeId(tree)).and_then(|root| tree::delete(pager, root, key)).map(drop)
        }
        Change::CreateTree(tree) => directory.create(TreeId(tree)),
        Change::DropTree(tree) => directory
            .root_mut(TreeId(tree))
            .and_then(|root| tree::clear(pager, root))
            .and_then(|()| directory.remove(TreeId(tree))),
        Change::ClearTree(tree) => directory.root_mut(TreeId(tree)).and_then(|root| tree::clear(pager, root)),
        Change::AddExtent { first, pages } => extents.add(first, pages),
        Change::FreeExtent { first, pages } => extents.free(pager, first, pages),
    };
    applied.map_err(damaged)
}

/// Extents named by the log.
#[derive(Default)]
struct Extents {
    /// Written by any replayed commit.
    reserved: RunSet,
    /// Written by a commit so far, and not freed since.
    live: RunSet,
    /// Of the checkpoint, freed by a commit.
    freed: RunSet,
}

impl Extents {
    fn reserve(&mut self, pager: &mut Pager, first: u32, pages: u32) -> Result<()> {
        if !self.reserved.overlaps(first, pages) {
            pager.reserve(first, pages)?;
            self.reserved.insert(first, pages);
            return Ok(());
        }
        // Pages of an extent that a replayed commit freed, used once more.
        for page in first..first.saturating_add(pages) {
            if !self.reserved.overlaps(page, 1) {
                pager.reserve(page, 1)?;
                self.reserved.insert(page, 1);
            }
        }
        Ok(())
    }

    fn add(&mut self, first: u32, pages: u32) -> Result<()> {
        if self.live.overlaps(first, pages) {
            return Err(Error::corrupt(first, "the log writes an extent over another"));
        }
        self.live.insert(first, pages);
        Ok(())
    }

    fn free(&mut self, pager: &mut Pager, first: u32, pages: u32) -> Result<()> {
        if self.live.overlaps(first, pages) {
            if self.live.remove(first, pages) == u64::from(pages) {
                return Ok(());
            }
        } else if pager.is_allocated(first, pages)
            && !self.reserved.overlaps(first, pages)
            && !self.freed.overlaps(first, pages)
        {
            self.freed.insert(first, pages);
            pager.free_extent(first, pages);
            return Ok(());
        }
        Err(Error::corrupt(first, "the log frees an extent that is not there"))
    }

    fn finish(mut self, pager: &mut Pager) {
        for (first, pages) in self.live.iter() {
            self.reserved.remove(first, pages);
        }
        for (first, pages) in self.reserved.iter() {
            pager.unreserve(first, pages);
        }
    }
}
