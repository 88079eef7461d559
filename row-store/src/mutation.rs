//! Named omissions for the crash simulation: with one active, the store leaves out a
//! flush or breaks an order, and the simulation must notice. Without the feature
//! `fault` nothing is ever left out.

/// Every omission there is; the mutation test runs the crash simulation with each.
#[cfg(feature = "fault")]
pub const MUTATIONS: &[&str] = &[
    "log flush",
    "extent flush",
    "checkpoint data flush",
    "meta flush",
    "new epoch and log chain",
    "recovered state flush",
    "checkpoint holds its pages",
    "unflushed commits hold their pages",
    "creation flush",
    "meta slots alternate",
    "logged extents are set aside",
    "failed flush poisons",
];

#[cfg(feature = "fault")]
thread_local! {
    static ACTIVE: std::cell::Cell<&'static str> = const { std::cell::Cell::new("") };
}

/// Activates an omission on this thread, or with `""` none.
#[cfg(feature = "fault")]
pub fn activate(name: &'static str) {
    assert!(name.is_empty() || MUTATIONS.contains(&name), "there is no mutation '{name}'");
    ACTIVE.with(|active| active.set(name));
}

/// Whether an omission is active.
#[cfg(feature = "fault")]
pub(crate) fn is_active(name: &str) -> bool {
    debug_assert!(MUTATIONS.contains(&name), "there is no mutation '{name}'");
    ACTIVE.with(|active| active.get() == name)
}

/// Whether an omission is active: never.
#[cfg(not(feature = "fault"))]
#[inline]
pub(crate) const fn is_active(_name: &str) -> bool {
    false
}
