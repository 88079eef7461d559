//! Verifying a tree: that its keys ascend and lie between their separators, that counts
//! are right, and which pages it owns.

use super::{Root, node};
use crate::pager::Pager;
use crate::{PageId, Result};
use std::sync::Arc;

/// What a check found and whom it tells about pages.
pub(crate) struct Check<'a> {
    pub(crate) tree: u32,
    pub(crate) problems: &'a mut Vec<String>,
    /// Claims a page; `false` if somebody else has it.
    pub(crate) claim: &'a mut dyn FnMut(PageId) -> bool,
}

/// Problems reported at the most; a damaged file may have one for each entry.
pub(crate) const PROBLEMS_MAX: usize = 100;

/// Verifies a tree.
pub(crate) fn check(pager: &mut Pager, root: &Root, check: &mut Check<'_>) {
    if root.is_empty() {
        if root.entries != 0 {
            report(check, format_args!("has no page but {} entries", root.entries));
        }
        return;
    }
    let entries = check_page(pager, root.page, root.level, (None, None), check);
    if entries.is_some_and(|entries| entries != root.entries) {
        report(check, format_args!("says {} entries, has {}", root.entries, entries.unwrap_or(0)));
    }
}

fn report(check: &mut Check<'_>, what: std::fmt::Arguments<'_>) {
    if check.problems.len() < PROBLEMS_MAX {
        check.problems.push(format!("tree {}: {what}", check.tree));
    }
}

/// Verifies a page and what is below; the entries there, or `None` if it is unreadable.
fn check_page(
    pager: &mut Pager,
    id: PageId,
    level: u8,
    between: (Option<&[u8]>, Option<&[u8]>),
    check: &mut Check<'_>,
) -> Option<u64> {
    if !(check.claim)(id) {
        report(check, format_args!("page {} is used twice", id.0));
        return None;
    }
    let page = match readable(pager, id, level) {
        Ok(page) => page,
        Err(error) => {
            report(check, format_args!("page {}: {error}", id.0));
            return None;
        }
    };
    let bytes = &page.bytes;
    let (count, first) = (node::count(bytes), usize::from(level > 0));
    let key = |index| if level > 0 { node::inner_key(bytes, index) } else { node::leaf_key(bytes, index) };
    for index in first..count {
        let above_lower = between.0.is_none_or(|lower| node::compare(lower, key(index)).is_le());
        let below_upper = between.1.is_none_or(|upper| node::compare(key(index), upper).is_lt());
        let above_last = index == first || node::compare(key(index - 1), key(index)).is_lt();
        if !(above_lower && below_upper && above_last) {
            report(check, format_args!("page {}: key {index} is out of order", id.0));
        }
    }
    if level == 0 {
        for index in 0..count {
            check_value(pager, bytes, index, check);
        }
        return Some(count as u64);
    }
    let mut sum = 0u64;
    for index in 0..count {
        let lower = if index == 0 { between.0 } else { Some(key(index)) };
        let upper = if index + 1 == count { between.1 } else { Some(key(index + 1)) };
        let below = check_page(pager, node::child(bytes, index), level - 1, (lower, upper), check)?;
        if below != node::entries(bytes, index) {
            let says = node::entries(bytes, index);
            report(check, format_args!("page {}: child {index} has {below} entries, not {says}", id.0));
        }
        sum = sum.wrapping_add(below);
    }
    Some(sum)
}

fn readable(pager: &mut Pager, id: PageId, level: u8) -> Result<Arc<crate::pager::Page>> {
    pager.recheck(id)?;
    Ok(Arc::clone(pager.tree_page(id, level)?))
}

fn check_value(pager: &mut Pager, bytes: &crate::pager::PageBytes, index: usize, check: &mut Check<'_>) {
    let node::CellValue::Overflow { first, bytes: length } = node::leaf_cell(bytes, index).1 else { return };
    let mut pages = Vec::new();
    let walked = pager.walk_chain(first, length, &mut |page, _| pages.push(page));
    let rechecked = walked.and_then(|()| pages.iter().try_for_each(|page| pager.recheck(*page)));
    if let Err(error) = rechecked {
        report(check, format_args!("overflow chain at page {}: {error}", first.0));
    }
    for page in pages {
        if !(check.claim)(page) {
            report(check, format_args!("overflow page {} is used twice", page.0));
        }
    }
}
