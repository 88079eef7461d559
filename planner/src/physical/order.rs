//! The order of joins: dynamic programming over connected sets of few items, greedy
//! merging of many. Bushy trees are allowed, products only where nothing connects.
//!
//! Costs are nanoseconds of building, probing and copying out, measured in wasm: a probe
//! of a table in cache is cheap, of one that misses it dear.

use super::graph::{Graph, Mask, bits};
use gingham_plan::JoinKind;

/// Items up to which every connected set is tried: 3^10 splits take about a millisecond at worst.
const EXHAUSTIVE_ITEMS_MAX: usize = 10;

/// How a block is joined.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// An input.
    Leaf(usize),
    /// An inner join.
    Inner(Box<Tree>, Box<Tree>),
    /// A dependent join of what is below it.
    Dependent(Box<Tree>, usize),
}

impl Tree {
    /// The items of the tree.
    pub(crate) fn mask(&self) -> Mask {
        match self {
            Self::Leaf(item) => 1 << item,
            Self::Inner(a, b) => a.mask() | b.mask(),
            Self::Dependent(input, item) => input.mask() | 1 << item,
        }
    }
}

/// One side of a join.
#[derive(Clone, Copy)]
pub(crate) struct Side {
    /// Estimated rows.
    pub(crate) rows: f64,
    /// Fixed-width columns a row, about.
    pub(crate) width: f64,
}

/// Cost of a hash join in nanoseconds. Probe rows without a match are mostly dropped by
/// a dynamic filter in the scan and cost little.
fn hash_cost(build: Side, probe: Side, out: f64) -> f64 {
    // Rows that fit the caches that a browser's worker can count on.
    const CACHED_ROWS: f64 = 30_000.0;
    const LARGE_ROWS: f64 = 1_000_000.0;
    const FILTERED_NS: f64 = 4.0;
    const COPY_NS: f64 = 1.5;
    let (build_ns, probe_ns) = if build.rows < CACHED_ROWS {
        (15.0, 5.0)
    } else if build.rows < LARGE_ROWS {
        (30.0, 15.0)
    } else {
        (50.0, 35.0)
    };
    let matched = out.min(probe.rows);
    build.rows * (build_ns + 2.0 * COPY_NS * build.width)
        + probe.rows * FILTERED_NS
        + matched * probe_ns
        + out * (2.0 + COPY_NS * (build.width + probe.width))
}

/// The sides of a hash join: whether the left is built, and the cost.
pub(crate) fn choose_build(kind: JoinKind, left: Side, right: Side, out: f64) -> (bool, f64) {
    let build_left = hash_cost(left, right, out);
    let build_right = hash_cost(right, left, out);
    match kind {
        // Building the preserved side needs marks on its rows, and a pass over them.
        JoinKind::Inner => (build_left < build_right, build_left.min(build_right)),
        _ => (build_left * 1.1 < build_right, (build_left * 1.1).min(build_right)),
    }
}

fn side(graph: &Graph, mask: Mask) -> Side {
    Side { rows: graph.rows(mask), width: graph.width(mask) }
}

fn join_cost(graph: &Graph, a: Mask, b: Mask) -> f64 {
    let (left, right, out) = (side(graph, a), side(graph, b), graph.rows(a | b));
    if !has_key(graph, a, b) {
        return left.rows * right.rows * 2.0 + out * 8.0;
    }
    choose_build(JoinKind::Inner, left, right, out).1
}

fn dependent_cost(graph: &Graph, a: Mask, item: usize) -> f64 {
    let kind = graph.items[item].dependent.unwrap_or(JoinKind::Left);
    let right = Side { rows: graph.items[item].estimate.rows, width: graph.items[item].outputs.iter().count() as f64 };
    choose_build(kind, side(graph, a), right, graph.rows(a | 1 << item)).1
}

fn has_key(graph: &Graph, a: Mask, b: Mask) -> bool {
    use gingham_plan::{BinaryOp, Expr};
    let spans = |class: &Vec<(usize, usize)>| {
        class.iter().any(|(_, item)| a >> item & 1 == 1) && class.iter().any(|(_, item)| b >> item & 1 == 1)
    };
    graph.classes.iter().any(spans)
        || graph.edges.iter().any(|e| {
            matches!(e.expr, Expr::Binary { op: BinaryOp::Equal | BinaryOp::IsNotDistinctFrom, .. })
                && e.items & a != 0
                && e.items & b != 0
                && e.items & !(a | b) == 0
        })
}

/// Chooses the order.
pub(crate) fn order(graph: &Graph) -> Option<Tree> {
    let mut trees: Vec<Tree> = components(graph)
        .into_iter()
        .filter_map(|component| {
            if component.count_ones() as usize <= EXHAUSTIVE_ITEMS_MAX {
                exhaustive(graph, component).or_else(|| greedy(graph, component))
            } else {
                greedy(graph, component)
            }
        })
        .collect();
    // What nothing connects is multiplied, smallest first, and what depends on several
    // parts is joined as soon as they are together.
    let mut pending: Vec<usize> = (0..graph.items.len())
        .filter(|i| graph.items[*i].dependent.is_some() && !trees.iter().any(|t| t.mask() >> i & 1 == 1))
        .collect();
    trees.sort_by(|a, b| graph.rows(a.mask()).total_cmp(&graph.rows(b.mask())));
    let mut trees = trees.into_iter();
    let mut tree = trees.next()?;
    loop {
        let mask = tree.mask();
        if let Some(position) = pending.iter().position(|i| graph.items[*i].needs & !mask == 0) {
            let item = pending.remove(position);
            tree = Tree::Dependent(Box::new(tree), item);
            continue;
        }
        match trees.next() {
            Some(next) => tree = Tree::Inner(Box::new(tree), Box::new(next)),
            None => break,
        }
    }
    for item in pending {
        tree = Tree::Dependent(Box::new(tree), item);
    }
    Some(tree)
}

/// Sets of inputs that predicates connect, each with the dependents that need only it.
fn components(graph: &Graph) -> Vec<Mask> {
    let mut components: Vec<Mask> =
        (0..graph.items.len()).filter(|i| graph.items[*i].dependent.is_none()).map(|i| 1 << i).collect();
    'merge: loop {
        for a in 0..components.len() {
            for b in a + 1..components.len() {
                if graph.connected(components[a], components[b]) {
                    let merged = components.swap_remove(b);
                    components[a] |= merged;
                    continue 'merge;
                }
            }
        }
        break;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (index, item) in graph.items.iter().enumerate() {
            let own = item.dependent.is_some() && item.needs != 0;
            let taken = components.iter().any(|c| c >> index & 1 == 1);
            if own
                && !taken
                && let Some(component) = components.iter_mut().find(|c| item.needs & !**c == 0)
            {
                *component |= 1 << index;
                changed = true;
            }
        }
    }
    components
}

#[derive(Clone, Copy)]
struct Best {
    cost: f64,
    left: Mask,
    right: Mask,
}

fn exhaustive(graph: &Graph, component: Mask) -> Option<Tree> {
    let items: Vec<usize> = bits(component).collect();
    let count = items.len();
    // Positions within the component make small table indexes.
    let spread =
        |compact: usize| -> Mask { bits(compact as Mask).fold(0, |mask, position| mask | 1 << items[position]) };
    let masks: Vec<Mask> = (0..1usize << count).map(spread).collect();
    let mut best: Vec<Option<Best>> = vec![None; 1 << count];
    for compact in 1..1usize << count {
        if compact.is_power_of_two() {
            let item = items[compact.trailing_zeros() as usize];
            if graph.items[item].dependent.is_none() {
                best[compact] = Some(Best { cost: 0.0, left: 0, right: 0 });
            }
            continue;
        }
        let mut found: Option<Best> = None;
        // The last join may be a dependent one …
        for position in bits(compact as Mask) {
            let item = items[position];
            let rest = compact & !(1 << position);
            if graph.items[item].dependent.is_none() || graph.items[item].needs & !masks[rest] != 0 {
                continue;
            }
            let Some(below) = best[rest] else { continue };
            let cost = below.cost + dependent_cost(graph, masks[rest], item);
            if found.is_none_or(|f| cost < f.cost) {
                found = Some(Best { cost, left: rest as Mask, right: 1 << position });
            }
        }
        // … or an inner join of two parts; each split once.
        let lowest = compact & compact.wrapping_neg();
        let mut part = (compact - 1) & compact;
        while part > 0 {
            let other = compact & !part;
            if part & lowest != 0
                && let (Some(a), Some(b)) = (best[part], best[other])
            {
                let below = a.cost + b.cost;
                if found.is_none_or(|f| below < f.cost) && graph.connected(masks[part], masks[other]) {
                    let cost = below + join_cost(graph, masks[part], masks[other]);
                    if found.is_none_or(|f| cost < f.cost) {
                        found = Some(Best { cost, left: part as Mask, right: other as Mask });
                    }
                }
            }
            part = (part - 1) & compact;
        }
        best[compact] = found;
    }
    rebuild(graph, &items, &best, (1 << count) - 1)
}

fn rebuild(graph: &Graph, items: &[usize], best: &[Option<Best>], compact: usize) -> Option<Tree> {
    if compact.is_power_of_two() {
        return Some(Tree::Leaf(items[compact.trailing_zeros() as usize]));
    }
    let Best { left, right, .. } = best[compact]?;
    let below = rebuild(graph, items, best, left as usize)?;
    if right.is_power_of_two() {
        let item = items[right.trailing_zeros() as usize];
        if graph.items[item].dependent.is_some() {
            return Some(Tree::Dependent(Box::new(below), item));
        }
    }
    Some(Tree::Inner(Box::new(below), Box::new(rebuild(graph, items, best, right as usize)?)))
}

/// Merges the pair that costs least until one tree is left.
fn greedy(graph: &Graph, component: Mask) -> Option<Tree> {
    let mut trees: Vec<Tree> =
        bits(component).filter(|i| graph.items[*i].dependent.is_none()).map(Tree::Leaf).collect();
    let mut pending: Vec<usize> = bits(component).filter(|i| graph.items[*i].dependent.is_some()).collect();
    while trees.len() > 1 || !pending.is_empty() {
        let mut choice: Option<(f64, usize, Result<usize, usize>)> = None;
        let mut consider = |cost: f64, a: usize, with: Result<usize, usize>| {
            if choice.is_none_or(|(least, ..)| cost < least) {
                choice = Some((cost, a, with));
            }
        };
        for a in 0..trees.len() {
            let mask = trees[a].mask();
            for (position, item) in pending.iter().enumerate() {
                if graph.items[*item].needs & !mask == 0 {
                    consider(dependent_cost(graph, mask, *item), a, Err(position));
                }
            }
            for (b, other) in trees.iter().enumerate().skip(a + 1) {
                if graph.connected(mask, other.mask()) {
                    consider(join_cost(graph, mask, other.mask()), a, Ok(b));
                }
            }
        }
        match choice {
            Some((_, a, Ok(b))) => {
                let right = trees.swap_remove(b);
                let left = std::mem::replace(&mut trees[a], Tree::Leaf(0));
                trees[a] = Tree::Inner(Box::new(left), Box::new(right));
            }
            Some((_, a, Err(position))) => {
                let item = pending.remove(position);
                let input = std::mem::replace(&mut trees[a], Tree::Leaf(0));
                trees[a] = Tree::Dependent(Box::new(input), item);
            }
            None => {
                // Only an edge over three or more parts connects them: multiply two.
                if trees.len() < 2 {
                    break;
                }
                let right = trees.pop()?;
                let left = trees.pop()?;
                trees.push(Tree::Inner(Box::new(left), Box::new(right)));
            }
        }
    }
    trees.pop()
}
