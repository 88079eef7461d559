//! Benchmarks. The browser suites and the peers' adapters are in `browser/`, saved runs
//! in `results/`; this crate is where native benches of the engine go.
