/**
 * The surface of the planner wasm module, as web/planner exports it; see core.d.ts.
 */

/** Instantiates the module. */
export default function initialize(options: { module_or_path: WebAssembly.Module }): Promise<unknown>;
/** Instantiates the module without waiting. */
export function initSync(options: { module: WebAssembly.Module }): unknown;
/** Replaces the catalog that statements are planned against. */
export function set_catalog(catalog: Uint8Array): void;
/** Plans one statement: the bytes of a `Result<Statement, SqlError>`. Routes: auto 0, row 1, column 2. */
export function plan(sql: string, route: number): Uint8Array;
