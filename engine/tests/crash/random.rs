//! Random SQL under crashes, against a map: tables of every storage, indexes,
//! transactions, savepoints, relaxed commits, copies and checkpoints; after each crash
//! the next round goes on with what was found. A failure prints its seed; run that one
//! with `GINGHAM_SEED=<seed> cargo xtask crash random`.

use crate::content::{Content, NAME, execute, open, read_content};
use crate::is_long;
use crate::simulation::{killed, verify, ways, without_power};
use gingham::vfs::fault::{FaultVfs, Random};
use gingham::{Connection, Database, Value};
use std::collections::BTreeMap;

const TABLES: [&str; 4] = ["r0", "r1", "r2", "r3"];
const STORAGES: [&str; 3] = ["hybrid", "row", "column"];

/// How long a run is.
#[derive(Clone, Copy)]
struct Effort {
    seeds: u64,
    rounds: u64,
    commits: u64,
    cuts: u64,
}

const SHORT: Effort = Effort { seeds: 3, rounds: 3, commits: 24, cuts: 8 };
const LONG: Effort = Effort { seeds: 60, rounds: 6, commits: 50, cuts: 25 };

#[derive(Clone, Debug, Default)]
struct Table {
    is_indexed: bool,
    /// `g` and `v` by `k`.
    rows: BTreeMap<i64, (i64, String)>,
}

/// What the database should hold.
type Model = BTreeMap<&'static str, Table>;

fn content(model: &Model) -> Content {
    let mut content = Content::new();
    for (name, table) in model {
        let rows = content.entry((*name).to_owned()).or_default();
        for (k, (g, v)) in &table.rows {
            rows.add(&[Value::Int(*k), Value::Int(*g), Value::Text(v.clone())]);
        }
    }
    content
}

fn text(random: &mut Random) -> String {
    let length = match random.below(40) {
        0 => random.below(30_000),
        1..4 => random.below(3000),
        _ => random.below(20),
    };
    let letter = (b'a' + random.below(26) as u8) as char;
    std::iter::repeat_n(letter, length as usize).collect()
}

/// Makes a random change to the model and returns the statement for it.
fn change(model: &mut Model, random: &mut Random) -> String {
    let missing = TABLES.iter().find(|name| !model.contains_key(*name));
    let names: Vec<&str> = model.keys().copied().collect();
    if let Some(name) = missing
        && (names.is_empty() || random.below(12) == 0)
    {
        model.insert(name, Table::default());
        let storage = STORAGES[random.below(3) as usize];
        return format!("CREATE TABLE {name} (k INTEGER PRIMARY KEY, g INTEGER, v TEXT) WITH (storage = '{storage}')");
    }
    let name = names[random.below(names.len() as u64) as usize];
    if names.len() > 2 && random.below(30) == 0 {
        model.remove(name);
        return format!("DROP TABLE {name}");
    }
    let table = model.get_mut(name).expect("chosen from the model");
    if !table.is_indexed && random.below(10) == 0 {
        table.is_indexed = true;
        // After a crash the rows alone do not tell whether an index was made.
        return format!("CREATE INDEX IF NOT EXISTS {name}_g ON {name} (g)");
    }
    let (low, group) = (random.below(400) as i64, random.below(12) as i64);
    let high = low + random.below(40) as i64;
    match random.below(10) {
        0 => {
            let first = table.rows.last_key_value().map_or(0, |(k, _)| k + 1);
            let parts = if random.below(4) == 0 { 64 } else { 4 };
            table.rows.extend((0..parts * 64).map(|n| (first + n, (n % 7, format!("bulk {}", n % 64)))));
            let numbers = |count: i64| (0..count).map(|n| format!("({n})")).collect::<Vec<_>>().join(",");
            format!(
                "INSERT INTO {name} SELECT {first} + a.n * 64 + b.n, (a.n * 64 + b.n) % 7, 'bulk ' || cast(b.n AS TEXT) \
                 FROM (VALUES {}) a(n), (VALUES {}) b(n)",
                numbers(parts),
                numbers(64)
            )
        }
        1..5 => {
            let rows: BTreeMap<i64, (i64, String)> =
                (0..=random.below(12)).map(|_| (random.below(400) as i64, (group, text(random)))).collect();
            let values: Vec<String> = rows.iter().map(|(k, (g, v))| format!("({k}, {g}, '{v}')")).collect();
            table.rows.extend(rows);
            format!("INSERT OR REPLACE INTO {name} VALUES {}", values.join(", "))
        }
        5 | 6 => {
            table.rows.range_mut(low..=high).for_each(|(_, row)| row.0 = group);
            format!("UPDATE {name} SET g = {group} WHERE k BETWEEN {low} AND {high}")
        }
        7 => {
            let v = text(random);
            table.rows.values_mut().filter(|row| row.0 == group).for_each(|row| row.1.clone_from(&v));
            format!("UPDATE {name} SET v = '{v}' WHERE g = {group}")
        }
        8 => {
            table.rows.retain(|k, _| !(low..=high).contains(k));
            format!("DELETE FROM {name} WHERE k BETWEEN {low} AND {high}")
        }
        _ => {
            table.rows.retain(|_, row| row.0 != group);
            format!("DELETE FROM {name} WHERE g = {group}")
        }
    }
}

/// A transaction, rolled back in part or as a whole by chance.
fn transaction(connection: &mut Connection, model: &Model, random: &mut Random) -> gingham::Result<Model> {
    let mut changed = model.clone();
    execute(connection, "BEGIN")?;
    for _ in 0..random.below(4) {
        let sql = change(&mut changed, random);
        execute(connection, &sql)?;
    }
    if random.below(2) == 0 {
        execute(connection, "SAVEPOINT s")?;
        let mut lost = changed.clone();
        for _ in 0..random.below(3) {
            let sql = change(&mut lost, random);
            execute(connection, &sql)?;
        }
        if random.below(2) == 0 {
            execute(connection, "ROLLBACK TO s")?;
        } else {
            changed = lost;
        }
    }
    if random.below(5) == 0 {
        execute(connection, "ROLLBACK")?;
        return Ok(model.clone());
    }
    execute(connection, "COMMIT")?;
    Ok(changed)
}

/// One commit or what else there is; the model after it, and whether all is durable.
fn act(database: &Database, model: &Model, random: &mut Random) -> gingham::Result<(Model, bool)> {
    let mut connection = database.connect();
    match random.below(12) {
        0 => execute(&mut connection, "CHECKPOINT").map(|()| (model.clone(), true)),
        1 | 2 => {
            execute(&mut connection, "SET route = 'column'")?;
            for table in model.keys() {
                execute(&mut connection, &format!("SELECT count(g) FROM {table}"))?;
            }
            // It may have had nothing to do.
            Ok((model.clone(), false))
        }
        3 => database.flush().map(|()| (model.clone(), true)),
        4..7 => {
            execute(&mut connection, "SET durability = 'relaxed'")?;
            let mut changed = model.clone();
            let sql = change(&mut changed, random);
            execute(&mut connection, &sql).map(|()| (changed, false))
        }
        7 | 8 => {
            let changed = transaction(&mut connection, model, random)?;
            Ok((changed, false))
        }
        _ => {
            let mut changed = model.clone();
            let sql = change(&mut changed, random);
            execute(&mut connection, &sql).map(|()| (changed, true))
        }
    }
}

fn run(seed: u64, effort: Effort) -> Result<(), String> {
    let random = &mut Random::new(seed);
    let mut disk = FaultVfs::new();
    let mut model = Model::new();
    for round in 0..effort.rounds {
        disk.start_recording();
        let mut database = open(&disk).map_err(|error| format!("round {round}: {error}"))?;
        let mut states = vec![model.clone()];
        // Of each step: operations at its end, and the durable state before it.
        let (mut ends, mut durable) = (Vec::new(), vec![0]);
        for number in 0..effort.commits as usize {
            let (after, all_durable) = act(&database, &states[number], random)
                .map_err(|error| format!("round {round}, step {number}: {error}"))?;
            states.push(after);
            ends.push(disk.operations());
            durable.push(if all_durable { number + 1 } else { durable[number] });
            if random.below(15) == 0 {
                drop(database);
                database = open(&disk).map_err(|error| format!("round {round}, reopening: {error}"))?;
            }
        }
        drop(database);
        let contents: Vec<Content> = states.iter().map(content).collect();
        let history = disk.stop_recording();
        for cut in 0..effort.cuts {
            let at = random.below(history.len() as u64) as usize;
            let step = ends.partition_point(|end| *end <= at as u64).min(states.len() - 2);
            let allowed = &contents[durable[step]..=step + 1];
            let place = |how: &str| format!("round {round}, cut at operation {at} in step {step}, {how}");
            if random.below(4) == 0 {
                verify(&killed(&history[at]), allowed, &TABLES).map_err(|what| place(&what))?;
            }
            let all = ways(&history[at], usize::MAX, random);
            let way = &all[random.below(all.len() as u64) as usize];
            let left = without_power(&history[at], way);
            verify(&left.fork(), allowed, &TABLES).map_err(|what| place(&format!("{way:?}: {what}")))?;
            if cut + 1 == effort.cuts {
                let found = open(&left.fork())
                    .and_then(|database| read_content(&database, &TABLES))
                    .map_err(|error| place(&error.to_string()))?;
                let position = allowed.iter().position(|state| *state == found).ok_or_else(|| place("it changed"))?;
                model = states[durable[step] + position].clone();
                disk = left;
            }
        }
    }
    assert!(!disk.bytes(NAME).is_empty());
    Ok(())
}

#[test]
fn random_statements_survive_random_crashes() {
    let effort = if is_long() { LONG } else { SHORT };
    let chosen = std::env::var("GINGHAM_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = chosen.map_or(0..effort.seeds, |seed: u64| seed..seed + 1);
    for seed in seeds {
        let outcome = std::panic::catch_unwind(|| run(seed, effort)).unwrap_or_else(|_| Err("it panicked".into()));
        outcome.unwrap_or_else(|what| panic!("{what}; replay with GINGHAM_SEED={seed}"));
    }
}
