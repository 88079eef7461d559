//! The ways in which what no sync has covered may end.

use super::{Fate, Random, SECTOR_BYTES, Unsynced};

/// The ways in which the unsynced changes of a cut may end, everything that one change
/// can do to itself among them, and `mixes` random ones.
pub fn fates(unsynced: &[Unsynced], mixes: usize, random: &mut Random) -> Vec<Vec<Fate>> {
    let count = unsynced.len();
    let mut ways = vec![vec![Fate::Keep; count]];
    if count == 0 {
        return ways;
    }
    ways.push(vec![Fate::Drop; count]);
    for (index, change) in unsynced.iter().enumerate() {
        let mut but = |fate: Fate, others: Fate| {
            let mut way = vec![others; count];
            way[index] = fate;
            ways.push(way);
        };
        but(Fate::Drop, Fate::Keep);
        but(Fate::Keep, Fate::Drop);
        for tear in tears(change) {
            but(tear, Fate::Keep);
        }
    }
    for _ in 0..mixes {
        ways.push(unsynced.iter().map(|change| random_fate(change, random)).collect());
    }
    ways
}

fn tears(change: &Unsynced) -> Vec<Fate> {
    let Unsynced::Write { bytes, .. } = change else { return Vec::new() };
    let sectors = bytes.len().div_ceil(SECTOR_BYTES);
    let mut tears = vec![Fate::Prefix(20), Fate::Prefix(bytes.len() - 1)];
    tears.extend((1..4).map(|quarter| Fate::Prefix(bytes.len() * quarter / 4)));
    if sectors > 1 {
        tears.push(Fate::Sectors((0..sectors).step_by(2).collect()));
        tears.push(Fate::Sectors((1..sectors).collect()));
        tears.push(Fate::Sectors((0..sectors - 1).collect()));
    }
    tears
}

fn random_fate(change: &Unsynced, random: &mut Random) -> Fate {
    match (random.below(4), change) {
        (0, _) => Fate::Drop,
        (1, Unsynced::Write { bytes, .. }) => {
            let sectors = bytes.len().div_ceil(SECTOR_BYTES);
            Fate::Sectors((0..sectors).filter(|_| random.below(2) == 0).collect())
        }
        _ => Fate::Keep,
    }
}
