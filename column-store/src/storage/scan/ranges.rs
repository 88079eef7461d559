//! Sets of integers as disjoint ranges: what a predicate on an integer-like column
//! accepts. Doubles take part by their ordered bits.

/// Inclusive ranges, ascending, not touching each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RangeSet(Vec<(i128, i128)>);

impl RangeSet {
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn all() -> Self {
        Self(vec![(i128::MIN, i128::MAX)])
    }

    /// `low..=high`; none if `low` is greater.
    pub(crate) fn between(low: i128, high: i128) -> Self {
        if low > high { Self::none() } else { Self(vec![(low, high)]) }
    }

    pub(crate) fn ranges(&self) -> &[(i128, i128)] {
        &self.0
    }

    pub(crate) fn contains(&self, value: i128) -> bool {
        let after = self.0.partition_point(|(low, _)| *low <= value);
        after > 0 && value <= self.0[after - 1].1
    }

    /// Whether some member lies in `low..=high`.
    pub(crate) fn meets(&self, low: i128, high: i128) -> bool {
        self.0.iter().any(|range| range.0 <= high && low <= range.1)
    }

    /// Whether all of `low..=high` are members.
    pub(crate) fn covers(&self, low: i128, high: i128) -> bool {
        self.0.iter().any(|range| range.0 <= low && high <= range.1)
    }

    /// The members of any of the ranges, which may overlap and come in any order.
    pub(crate) fn of(mut ranges: Vec<(i128, i128)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(i128, i128)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges.into_iter().filter(|(low, high)| low <= high) {
            match merged.last_mut() {
                Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
                _ => merged.push((low, high)),
            }
        }
        Self(merged)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        Self::of([self.0.as_slice(), other.0.as_slice()].concat())
    }

    pub(crate) fn complement(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.0.len() + 1);
        let mut next = Some(i128::MIN);
        for (low, high) in &self.0 {
            if let Some(start) = next.filter(|start| start < low) {
                gaps.push((start, low - 1));
            }
            next = high.checked_add(1);
        }
        gaps.extend(next.map(|start| (start, i128::MAX)));
        Self(gaps)
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.complement().union(&other.complement()).complement()
    }

    /// The integers whose product with `factor` is a member.
    pub(crate) fn divided(&self, factor: i128) -> Self {
        if factor == 1 {
            return self.clone();
        }
        let up = |v: i128| v.div_euclid(factor) + i128::from(v.rem_euclid(factor) > 0);
        Self::of(self.0.iter().map(|(low, high)| (up(*low), high.div_euclid(factor))).collect())
    }

    /// The ranges cut to 64 bits.
    pub(crate) fn narrow(&self) -> Vec<(i64, i64)> {
        let clamp = |v: i128| v.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
        self.0
            .iter()
            .filter(|(low, high)| *low <= i128::from(i64::MAX) && *high >= i128::from(i64::MIN))
            .map(|(low, high)| (clamp(*low), clamp(*high)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_algebra_agrees_with_membership() {
        let sets = [
            RangeSet::none(),
            RangeSet::all(),
            RangeSet::between(-5, 5),
            RangeSet::between(6, 9),
            RangeSet::between(3, 3).union(&RangeSet::between(8, 20)),
            RangeSet::between(i128::MIN, 0),
            RangeSet::between(2, i128::MAX),
        ];
        let probes = [i128::MIN, -6, -5, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 20, 21, i128::MAX];
        for a in &sets {
            for v in probes {
                assert_eq!(a.complement().contains(v), !a.contains(v), "{a:?} {v}");
                if v.abs_diff(0) < 100 {
                    assert_eq!(a.divided(3).contains(v), a.contains(v * 3), "{a:?} {v}");
                }
                for b in &sets {
                    assert_eq!(a.union(b).contains(v), a.contains(v) || b.contains(v), "{a:?} {b:?} {v}");
                    assert_eq!(a.intersection(b).contains(v), a.contains(v) && b.contains(v), "{a:?} {b:?} {v}");
                }
            }
        }
        assert_eq!(RangeSet::between(1, 2).union(&RangeSet::between(3, 4)).ranges().len(), 1);
    }
}
