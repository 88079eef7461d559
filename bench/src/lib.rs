//! Benchmarks. The browser suites and the peers' adapters are in `browser/`, saved runs
//! in `results/`; the native benches are in `benches/`.
