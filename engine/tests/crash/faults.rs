//! Operations that fail instead of the process: at each operation of each step an error,
//! a short write, a full device, or a flush that loses what it should have covered. The
//! statement says so with a typed error, the database is usable or can be reopened, and
//! what it holds is what was committed.

use crate::content::{Content, check_integrity, execute, open, read_content};
use crate::is_long;
use crate::workload::{STEPS, Session, TABLES, states};
use gingham::vfs::fault::{Fault, FaultVfs};
use gingham::{Connection, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

const FAULTS: [Fault; 5] = [Fault::Error, Fault::Short, Fault::Full, Fault::FullForever, Fault::LostSync];

/// What a client may be told.
const CODES: [&str; 4] = [
    "53100", // full
    "58030", // the operation failed
    "40003", // in doubt
    "08003", // reopen
];

/// Errors after which the handle is of no more use.
fn is_final(code: &str) -> bool {
    code == "40003" || code == "08003"
}

/// Commits something, so that the next commit goes to the log of a running epoch.
fn warm_up(session: &Session) -> gingham::Result<()> {
    let mut connection = session.database().connect();
    execute(&mut connection, "CREATE TABLE IF NOT EXISTS warm (a INTEGER)")
}

/// One fault at one operation of a step, on a disk with the state before the step.
/// Whether it struck.
fn strike(disk: &FaultVfs, step: usize, at: u64, fault: Fault, warm: bool) -> Result<bool, String> {
    let states = STATES.with(Rc::clone);
    let (before, after) = (&states[step], &states[step + 1]);
    let text = |error: gingham::Error| error.to_string();
    let mut session = Session::open(disk).map_err(text)?;
    if warm {
        warm_up(&session).map_err(text)?;
    }
    disk.inject(at, fault);
    // A relaxed commit meets the fault when it is flushed.
    let outcome = session.run(STEPS[step]).and_then(|()| session.database().flush());
    let struck = disk.has_struck();
    let mut allowed = vec![after];
    if let Err(error) = outcome {
        let code = error.to_sql_error().code.to_string();
        if !CODES.contains(&code.as_str()) {
            return Err(format!("the error is {code}: {error}"));
        }
        allowed = if is_final(&code) { vec![before, after] } else { vec![before] };
        if !is_final(&code) && fault != Fault::FullForever {
            // Whatever failed was undone, and works the second time; unless it was a flush
            // on the way to a checkpoint, after which the handle takes nothing more.
            match session.run(STEPS[step]) {
                Ok(()) => allowed = vec![after],
                Err(again) if again.to_sql_error().code == "08003" => {}
                Err(again) => return Err(format!("after {error}, trying again: {again}")),
            }
        }
    }
    drop(session);
    disk.kill_process();
    let database = open(disk).map_err(|error| format!("reopening: {error}"))?;
    check_integrity(&database)?;
    let found = read_content(&database, &TABLES).map_err(text)?;
    if !allowed.contains(&&found) {
        return Err(format!("found {found:?}"));
    }
    let mut connection = database.connect();
    execute(&mut connection, "CREATE TABLE usable (a INTEGER)").map_err(|error| format!("afterwards: {error}"))?;
    Ok(struck)
}

thread_local! {
    static STATES: Rc<Vec<Content>> =
        Rc::new(states().expect("the workload runs without faults"));
}

#[test]
fn a_failed_operation_fails_the_statement_and_nothing_else() {
    // The disk before each step, so that each is tried without those before it.
    let vfs = FaultVfs::new();
    let mut disks = Vec::new();
    let mut session = Session::open(&vfs).expect("opens");
    for step in STEPS {
        session.database().flush().expect("flushes");
        let disk = vfs.fork();
        disk.kill_process();
        disks.push(disk);
        session.run(step).unwrap_or_else(|error| panic!("{step:?}: {error}"));
    }
    let mut struck = 0;
    for (step, disk) in disks.iter().enumerate() {
        for warm in [true, false] {
            for at in 0.. {
                let mut any = false;
                // In the short form each operation meets one of the faults.
                let chosen =
                    FAULTS.iter().enumerate().filter(|(n, _)| is_long() || (*n + at as usize + step).is_multiple_of(5));
                for (_, fault) in chosen {
                    let fork = disk.fork();
                    let outcome = catch_unwind(AssertUnwindSafe(|| strike(&fork, step, at, *fault, warm)));
                    let what = format!("{fault:?} at operation {at} of step {step} {:?}, warm {warm}", STEPS[step]);
                    match outcome.unwrap_or_else(|_| panic!("{what}: it panicked")) {
                        Ok(found) => any |= found,
                        Err(error) => panic!("{what}: {error}"),
                    }
                    struck += u64::from(any);
                }
                if !any {
                    break;
                }
            }
        }
    }
    println!("{struck} faults struck");
    assert!(struck > 100, "{struck}");
}

#[test]
fn a_full_device_still_answers_and_can_be_emptied() {
    let vfs = FaultVfs::new();
    let database = open(&vfs).expect("opens");
    let mut connection = database.connect();
    let run =
        |connection: &mut Connection, sql: &str| execute(connection, sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    run(&mut connection, "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)");
    for k in 0..60 {
        run(&mut connection, &format!("INSERT INTO t VALUES ({k}, repeat('x', 20000))"));
    }
    vfs.inject(0, Fault::FullForever);
    let mut full = None;
    for k in 60..400 {
        if let Err(error) = execute(&mut connection, &format!("INSERT INTO t VALUES ({k}, repeat('x', 20000))")) {
            full = Some((k, error.to_sql_error().code));
            break;
        }
    }
    let (rows, code) = full.expect("a device that is full says so");
    assert_eq!(code, "53100");
    let count = |connection: &mut Connection| {
        let found = connection.execute("SELECT count(*) FROM t", &[]).and_then(|mut rows| rows.collect_values());
        found.expect("reads")[0][0].clone()
    };
    assert_eq!(count(&mut connection), Value::Int(rows));
    run(&mut connection, "DELETE FROM t WHERE k >= 10");
    assert_eq!(count(&mut connection), Value::Int(10));
    run(&mut connection, "INSERT INTO t VALUES (1000, 'small')");
    drop((connection, database));
    vfs.kill_process();
    assert_eq!(count(&mut open(&vfs).expect("opens").connect()), Value::Int(11));
}
