//! Which crates a module's bytes come from, by the names section of the module as the
//! compiler left it.
//!
//! A generic function counts for the crate that wrote it, not the one that uses it, and
//! what was inlined counts for the caller: good for finding what to do without, not for
//! adding up.

use super::sizes::grouped;
use crate::failure::{Context, Failure, Result};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use wasmparser::{BinaryReaderError, KnownCustom, Name, Parser, Payload, TypeRef};

/// Crates that are named one by one.
const ROWS_MAX: usize = 30;

/// Bytes by origin.
#[derive(Debug, Default)]
struct Weights {
    code_by_crate: BTreeMap<String, u64>,
    code: u64,
    data: u64,
}

/// Prints the table for the module in a file.
pub(crate) fn print(name: &str, path: &Path) -> Result<()> {
    let module = fs::read(path).context(|| format!("reading {}", path.display()))?;
    let weights = weigh(&module).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    let mut rows: Vec<(&str, u64)> =
        weights.code_by_crate.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    rows.sort_by_key(|(name, bytes)| (std::cmp::Reverse(*bytes), *name));
    println!("\n{name}: {} bytes of code, {} of data", grouped(weights.code), grouped(weights.data));
    for (name, bytes) in rows.iter().take(ROWS_MAX) {
        let share = *bytes as f64 * 100.0 / weights.code as f64;
        println!("{:>12}  {share:5.1} %  {name}", grouped(*bytes));
    }
    if rows.len() > ROWS_MAX {
        let others: u64 = rows.iter().skip(ROWS_MAX).map(|(_, bytes)| bytes).sum();
        println!("{:>12}           {} others", grouped(others), rows.len() - ROWS_MAX);
    }
    Ok(())
}

fn weigh(module: &[u8]) -> Result<Weights, BinaryReaderError> {
    let mut weights = Weights::default();
    let mut imported = 0;
    let mut bodies = Vec::new();
    let mut names: HashMap<u32, String> = HashMap::new();
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.range().len() as u64),
            Payload::DataSection(data) => weights.data = data.range().len() as u64,
            Payload::CustomSection(custom) => {
                if let KnownCustom::Name(sections) = custom.as_known() {
                    for section in sections {
                        if let Name::Function(functions) = section? {
                            for function in functions {
                                let function = function?;
                                names.insert(function.index, function.name.to_owned());
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
    for (index, bytes) in (imported..).zip(bodies) {
        let origin = names.get(&index).map_or("(no name)".to_owned(), |name| crate_of(name));
        *weights.code_by_crate.entry(origin).or_default() += bytes;
        weights.code += bytes;
    }
    Ok(weights)
}

/// The crate that a mangled name starts with.
fn crate_of(mangled: &str) -> String {
    let name = format!("{:#}", rustc_demangle::demangle(mangled));
    let mut rest = name.as_str();
    // `<&mut [a::B] as c::D>::e` is a's.
    loop {
        let trimmed = rest.trim_start_matches(['<', '&', '*', '[', '(', ' ']);
        let trimmed = ["mut ", "dyn ", "const ", "impl "]
            .iter()
            .fold(trimmed, |text, word| text.strip_prefix(word).unwrap_or(text));
        if trimmed.len() == rest.len() {
            break;
        }
        rest = trimmed;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    if end > 0 && rest[end..].starts_with("::") { rest[..end].to_owned() } else { "(other)".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::crate_of;

    #[test]
    fn a_function_belongs_to_the_crate_its_path_starts_with() {
        let cases = [
            ("_ZN9sqlparser6parser6Parser10parse_expr17h0123456789abcdefE", "sqlparser"),
            ("_ZN63_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..clone..Clone$GT$5clone17h0123456789abcdefE", "alloc"),
            ("_ZN62_$LT$$RF$mut$u20$planner..Plan$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE", "planner"),
            ("_RNvCs1234_7mycrate3foo", "mycrate"),
            ("memcpy", "(other)"),
        ];
        for (mangled, expected) in cases {
            assert_eq!(crate_of(mangled), expected, "{mangled}");
        }
    }
}
