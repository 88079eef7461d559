// @ts-check
/** The contract of every VFS, in the core module built with the feature `testing`. */

/** Runs it over an empty file of its own. */
export async function opfsKeepsTheContract() {
  const core = await import(/** @type {any} */ ("/dist-testing/core.js"));
  await core.default({ module_or_path: "/dist-testing/core_bg.wasm" });
  let panic;
  core.start({ panicked: (/** @type {string} */ message) => (panic = message), now: () => performance.now() });
  const root = await navigator.storage.getDirectory();
  const file = await root.getFileHandle("vfs-contract", { create: true });
  const handle = await /** @type {any} */ (file).createSyncAccessHandle();
  try {
    core.run_vfs_contract(handle);
  } catch (error) {
    throw new Error(panic ?? String(error));
  } finally {
    handle.close();
    await root.removeEntry("vfs-contract");
  }
}
