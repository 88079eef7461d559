//! What the package weighs: raw, and compressed as servers send it.

use crate::failure::{Failure, Result};
use crate::process::{capture, program};
use crate::setup;
use crate::workspace::{Workspace, files_under};
use serde_json::Value;
use std::path::Path;

/// Compresses with Node.js, which has both compressors in C and is there anyway;
/// brotli at its best takes half a minute for the planner, so by content hash.
const SCRIPT: &str = include_str!("sizes.js");

/// Bytes of one file, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    raw: u64,
    gzip: u64,
    brotli: u64,
}

impl Size {
    fn plus(self, other: Self) -> Self {
        Self { raw: self.raw + other.raw, gzip: self.gzip + other.gzip, brotli: self.brotli + other.brotli }
    }
}

/// Prints a table of the package's files that a browser downloads.
pub(crate) fn print(workspace: &Workspace) -> Result<()> {
    setup::node()?;
    let folder = workspace.package();
    let files = files_under(&folder, &[])?;
    let files = files.iter().filter(|file| is_downloaded(file));
    let mut measure = program("node");
    measure.args(["-e", SCRIPT, "--"]).arg(workspace.path(".cache/sizes")).args(files);
    let report = capture(&mut measure)?;
    let mut rows = Vec::new();
    for line in report.lines() {
        let (path, size) = parse(line).ok_or_else(|| Failure::new(format!("sizes.js printed `{line}`")))?;
        let name = Path::new(&path).strip_prefix(&folder).map_or(path.clone(), |name| name.display().to_string());
        rows.push((name, size));
    }
    rows.sort_by_key(|(_, size)| std::cmp::Reverse(size.raw));
    let total = rows.iter().fold(Size::default(), |sum, (_, size)| sum.plus(*size));
    rows.push(("total".into(), total));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("web/dist".len());
    println!("{:width$}  {:>10}  {:>10}  {:>10}", "web/dist", "raw", "gzip -9", "brotli -11");
    for (name, size) in rows {
        println!("{name:width$}  {:>10}  {:>10}  {:>10}", grouped(size.raw), grouped(size.gzip), grouped(size.brotli));
    }
    Ok(())
}

/// Types and texts are in the package but never in a page.
fn is_downloaded(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (name.ends_with(".js") || name.ends_with(".wasm")) && !name.ends_with(".d.ts")
}

fn parse(line: &str) -> Option<(String, Size)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let size = Size { raw: value["raw"].as_u64()?, gzip: value["gzip"].as_u64()?, brotli: value["brotli"].as_u64()? };
    Some((value["path"].as_str()?.to_owned(), size))
}

/// A number with its digits in groups of three.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!([0, 999, 1000, 12_345_678].map(grouped), ["0", "999", "1 000", "12 345 678"]);
    }

    #[test]
    fn a_line_is_a_file() {
        let line = r#"{"path": "a.js", "raw": 3, "gzip": 2, "brotli": 1}"#;
        assert_eq!(parse(line), Some(("a.js".into(), Size { raw: 3, gzip: 2, brotli: 1 })));
        assert_eq!(parse("{}"), None);
    }
}
