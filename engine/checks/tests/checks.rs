//! Every check over seeded inputs, and over what proptest makes and shrinks.
//!
//! `GINGHAM_LONG=1` tries many more; `GINGHAM_SEED=<seed>` with the name of one check
//! runs that input alone.

use gingham_checks::CHECKS;
use gingham_row_store::vfs::fault::Random;
use proptest::prelude::*;
use std::panic::catch_unwind;

fn inputs() -> u64 {
    if std::env::var_os("GINGHAM_LONG").is_some() { 200_000 } else { 300 }
}

/// The input of a seed: of any length, its bytes small as often as not, for small
/// numbers are what lengths and kinds are made of.
fn input(seed: u64, bytes_max: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let length = 1 + random.below(bytes_max as u64) as usize;
    let small = random.below(3);
    (0..length)
        .map(|_| {
            let byte = random.next() as u8;
            if random.below(3) < small { byte % 8 } else { byte }
        })
        .collect()
}

fn run(name: &str) {
    let (_, check, bytes_max) = CHECKS.iter().find(|(known, ..)| *known == name).expect("a check of that name");
    let chosen = std::env::var("GINGHAM_SEED").ok().and_then(|seed| seed.parse().ok());
    for seed in chosen.map_or(0..inputs(), |seed: u64| seed..seed + 1) {
        let data = input(seed, *bytes_max);
        let outcome = catch_unwind(|| check(&data));
        assert!(outcome.is_ok(), "check {name} failed; replay with GINGHAM_SEED={seed}: {data:?}");
    }
}

macro_rules! checks {
    ($($name:ident),*) => {
        $(#[test] fn $name() { run(stringify!($name)); })*

        #[test]
        fn all_checks_are_run() {
            let run = [$(stringify!($name)),*];
            assert!(CHECKS.iter().all(|(name, ..)| run.contains(name)));
        }
    };
}

checks!(file, log, page, plan, row, row_group, sql);

/// Inputs that made a check fail once.
#[test]
fn inputs_that_failed_before_do_not() {
    let failed: [(&str, &[u8]); 1] =
        // A page in use that the list of free pages had, too.
        [("page", &[37, 42, 5, 3, 1, 4, 2, 5, 160, 5, 201, 146, 0, 7, 6, 7, 3, 3, 6])];
    for (name, data) in failed {
        let (_, check, _) = CHECKS.iter().find(|(known, ..)| *known == name).expect("a check of that name");
        check(data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shrinking(data in prop::collection::vec(any::<u8>(), 0..200)) {
        CHECKS.iter().filter(|(name, ..)| *name != "sql").for_each(|(_, check, _)| check(&data));
    }
}
