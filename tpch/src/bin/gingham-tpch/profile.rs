//! Where warm queries spend their time: the hottest operators, from EXPLAIN ANALYZE, and
//! how long planning takes.

use crate::arguments::Arguments;
use crate::engine::Gingham;
use crate::report::NOTICE;
use gingham_tpch::{Error, QueryNumber, SqlTarget as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How many operators are listed.
const LISTED: usize = 10;
/// How often each query is planned; the median counts.
const PLANNINGS: usize = 9;
/// Characters of an operator's own text that are printed.
const TEXT_CHARACTERS_MAX: usize = 72;

/// One operator of one query.
struct Operator {
    query: QueryNumber,
    depth: usize,
    text: String,
    /// With its inputs.
    total_ms: f64,
    /// Without them.
    own_ms: f64,
    rows: String,
    /// Memory, spilled and read bytes and pruned groups, as EXPLAIN ANALYZE says them.
    rest: String,
}

/// Loads, runs every query, and prints both tables.
pub(crate) fn profile(arguments: &Arguments) -> Result<ExitCode, Error> {
    let layout = arguments.layout();
    let (mut target, _) = Gingham::loaded(arguments)?;
    println!("{layout}, route {}, native\n{NOTICE}\n", arguments.route);
    let (mut operators, mut plannings) = (Vec::new(), Vec::new());
    for query in arguments.queries() {
        let failed = |message| Error::Target { doing: format!("{query}"), message };
        let sql = query.sql(layout.scale);
        target.execute(&sql).map_err(failed)?;
        let mut best: Vec<Operator> = Vec::new();
        for _ in 0..arguments.repeat {
            let plan = target.execute(&format!("EXPLAIN ANALYZE {sql}")).map_err(failed)?;
            let lines = plan.rows.iter().flatten().map(ToString::to_string);
            let run = read_plan(query, lines);
            if best.is_empty() || query_ms(&run) < query_ms(&best) {
                best = run;
            }
        }
        operators.extend(best);
        plannings.push((query, planning(&mut target, &sql).map_err(failed)?));
    }
    print_operators(&mut operators);
    print_plannings(&plannings);
    target.close()?;
    Ok(ExitCode::SUCCESS)
}

/// The operators of EXPLAIN ANALYZE's lines; headings of subqueries are none.
fn read_plan(query: QueryNumber, lines: impl Iterator<Item = String>) -> Vec<Operator> {
    let mut operators: Vec<Operator> = lines.filter_map(|line| read_line(query, &line)).collect();
    for at in 0..operators.len() {
        let depth = operators[at].depth;
        let below = operators[at + 1..].iter().take_while(|other| other.depth > depth);
        let inputs: f64 = below.filter(|other| other.depth == depth + 1).map(|other| other.total_ms).sum();
        operators[at].own_ms = (operators[at].total_ms - inputs).max(0.0);
    }
    operators
}

fn read_line(query: QueryNumber, line: &str) -> Option<Operator> {
    let (text, note) = line.rsplit_once(" (actual rows=")?;
    let mut parts = note.trim_end_matches(')').splitn(3, ", ");
    let rows = parts.next()?.to_owned();
    let total_ms = parts.next()?.strip_suffix(" ms")?.parse().ok()?;
    let rest = parts.next().unwrap_or_default().to_owned();
    let trimmed = text.trim_start();
    let depth = (text.len() - trimmed.len()) / 2;
    Some(Operator { query, depth, text: trimmed.to_owned(), total_ms, own_ms: 0.0, rows, rest })
}

fn query_ms(operators: &[Operator]) -> f64 {
    operators.iter().map(|operator| operator.own_ms).sum()
}

/// The median time of preparing a statement that no cache knows.
fn planning(target: &mut Gingham, sql: &str) -> Result<Duration, String> {
    let mut times = Vec::with_capacity(PLANNINGS);
    for number in 0..PLANNINGS {
        let sql = format!("{sql}\n-- {number}");
        let started = Instant::now();
        target.prepare(&sql)?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok(times[PLANNINGS / 2])
}

fn print_operators(operators: &mut [Operator]) {
    let total = query_ms(operators);
    operators.sort_by(|a, b| b.own_ms.total_cmp(&a.own_ms));
    println!("the {LISTED} hottest operators of {} ({total:.0} ms in all)", operators.len());
    println!("{:<6}{:>10}{:>8}{:>12}  operator", "query", "ms", "share", "rows");
    for operator in operators.iter().take(LISTED) {
        let Operator { query, own_ms, rows, rest, text, .. } = operator;
        let share = 100.0 * own_ms / total;
        let mut shown: String = text.chars().take(TEXT_CHARACTERS_MAX).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        println!("{:<6}{own_ms:>10.2}{share:>6.1} %{rows:>12}  {shown}", query.to_string());
        if !rest.is_empty() {
            println!("{:<38}{rest}", "");
        }
    }
}

fn print_plannings(plannings: &[(QueryNumber, Duration)]) {
    println!("\nplanning, median of {PLANNINGS}, ms");
    let ms = |time: &Duration| time.as_secs_f64() * 1e3;
    for (query, time) in plannings {
        println!("{:<6}{:>10.3}", query.to_string(), ms(time));
    }
    let mut times: Vec<Duration> = plannings.iter().map(|(_, time)| *time).collect();
    times.sort_unstable();
    if let (Some(median), Some(greatest)) = (times.get(times.len() / 2), times.last()) {
        println!("median{:>10.3}\nmost  {:>10.3}", ms(median), ms(greatest));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_time_is_what_inputs_leave() {
        let query = QueryNumber::new(1).expect("a query");
        let lines = [
            "Subquery 0:",
            "  Limit 1 (actual rows=1, 0.500 ms)",
            "Join inner (a, b) (actual rows=7, 10.000 ms, memory 64 bytes)",
            "  Filter (x) (actual rows=3, 4.000 ms)",
            "    Scan a (actual rows=5, 1.000 ms, read 10 bytes, 1 of 2 row groups pruned)",
            "  Scan b (actual rows=2, 2.500 ms)",
        ];
        let found = read_plan(query, lines.into_iter().map(str::to_owned));
        let own: Vec<f64> = found.iter().map(|operator| operator.own_ms).collect();
        assert_eq!(own, [0.5, 3.5, 3.0, 1.0, 2.5]);
        assert_eq!((found[1].rows.as_str(), found[1].rest.as_str()), ("7", "memory 64 bytes"));
        assert_eq!(found[3].rest, "read 10 bytes, 1 of 2 row groups pruned");
    }
}
