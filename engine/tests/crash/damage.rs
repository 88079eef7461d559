//! Damaged files: a flipped bit on any page, an end that is missing. Every answer is an
//! error that says so or the right one, in both stores; nothing panics.

use crate::content::{Content, NAME, execute, open};
use crate::is_long;
use crate::workload::{STEPS, Session};
use gingham::vfs::fault::{FaultVfs, Random};
use gingham::{Connection, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};

const PAGE_BYTES: usize = 8192;

/// Steps after which the file has pages of every kind, and is not large.
const STEPS_BEFORE: usize = 20;

/// Read on both routes.
const QUERIES: [&str; 6] = [
    "SELECT count(*), sum(k), sum(g), min(v), max(v) FROM t",
    "SELECT k FROM t WHERE g = 77 ORDER BY k",
    "SELECT octet_length(v) FROM t WHERE k = 5",
    "SELECT count(*), sum(id), sum(x) FROM c",
    "SELECT x, count(*) FROM c WHERE id BETWEEN 60 AND 900 GROUP BY x ORDER BY x",
    "SELECT n, b FROM made",
];

type Answer = Result<Vec<Vec<Value>>, String>;

fn answers(connection: &mut Connection) -> Vec<Answer> {
    let mut found = Vec::new();
    for route in ["row", "column"] {
        let set = execute(connection, &format!("SET route = '{route}'"));
        for sql in QUERIES {
            let rows = connection.execute(sql, &[]).and_then(|mut rows| rows.collect_values());
            found.push(rows.map_err(|error| error.to_sql_error().code.to_string()));
        }
        set.expect("setting the route reads nothing");
    }
    found
}

/// A closed database with both stores in it, and the right answers.
fn database() -> (Vec<u8>, Vec<Answer>) {
    let vfs = FaultVfs::new();
    let mut session = Session::open(&vfs).expect("opens");
    for step in &STEPS[..STEPS_BEFORE] {
        session.run(*step).unwrap_or_else(|error| panic!("{step:?}: {error}"));
    }
    let database = session.database().clone();
    database.close().expect("closes");
    drop(session);
    vfs.kill_process();
    let right = answers(&mut open(&vfs).expect("opens").connect());
    assert!(right.iter().all(Result::is_ok), "{right:?}");
    (vfs.bytes(NAME), right)
}

/// Reads a damaged file; how many errors there were. A wrong answer or a panic is
/// reported.
fn read(bytes: &[u8], right: &[Answer]) -> Result<usize, String> {
    let vfs = FaultVfs::new();
    vfs.set_bytes(NAME, bytes);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let database = match open(&vfs) {
            Ok(database) => database,
            Err(error) => {
                let code = error.to_sql_error().code;
                return if code.starts_with("XX") { Ok(right.len()) } else { Err(format!("opening: {error}")) };
            }
        };
        let mut connection = database.connect();
        // `BEGIN READ ONLY`: what is damaged is not written over.
        if let Err(error) = execute(&mut connection, "BEGIN READ ONLY") {
            let code = error.to_sql_error().code;
            return if code.starts_with("XX") { Ok(right.len()) } else { Err(format!("beginning: {error}")) };
        }
        let found = answers(&mut connection);
        drop(connection);
        // Whatever it finds, it does not panic.
        let _ = database.integrity_check();
        let mut errors = 0;
        for (number, (found, right)) in found.iter().zip(right).enumerate() {
            match found {
                Err(code) if code.starts_with("XX") => errors += 1,
                found if found == right => {}
                found => return Err(format!("{} gave {found:?}", QUERIES[number % QUERIES.len()])),
            }
        }
        Ok(errors)
    }));
    outcome.unwrap_or_else(|_| Err("it panicked".into()))
}

#[test]
fn flipped_bits_on_any_page_give_an_error_or_the_right_answer() {
    let (bytes, right) = database();
    let random = &mut Random::new(5);
    let mut damaged = bytes.clone();
    let (mut flips, mut noticed) = (0, 0);
    let flips_a_page = if is_long() { 40 } else { 1 };
    for page in 0..bytes.len() / PAGE_BYTES {
        for _ in 0..flips_a_page {
            // The header and the slots are as likely as all the rest.
            let within = if random.below(2) == 0 { random.below(64) } else { random.below(PAGE_BYTES as u64) };
            let (at, mask) = (page * PAGE_BYTES + within as usize, 1 << random.below(8));
            damaged[at] ^= mask;
            let errors = read(&damaged, &right).unwrap_or_else(|what| panic!("page {page}, byte {within}: {what}"));
            damaged[at] ^= mask;
            flips += 1;
            noticed += usize::from(errors > 0);
        }
    }
    println!("{noticed} of {flips} flips were noticed");
    assert!(noticed > flips / 20, "{noticed} of {flips}");
}

#[test]
fn files_cut_at_any_page_are_refused() {
    let (bytes, right) = database();
    let pages = bytes.len() / PAGE_BYTES;
    let step = if is_long() { 1 } else { 5 };
    for page in (1..pages).step_by(step).chain(pages - 3..pages) {
        let errors = read(&bytes[..page * PAGE_BYTES], &right).unwrap_or_else(|what| panic!("{page} pages: {what}"));
        assert!(errors > 0, "{page} of {pages} pages read as if all were there");
    }
    // No bytes at all are a new database.
    let empty = FaultVfs::new();
    empty.set_bytes(NAME, &[]);
    let database = open(&empty).expect("opens");
    let tables: Content = crate::content::read_content(&database, &["t", "c"]).expect("reads");
    assert!(tables.is_empty());
}
