/** Which build of the package this is; bundle.js puts in a hash of the wasm modules. */

declare const GINGHAM_BUILD: string;

/** Two files of the package belong together if theirs are equal. */
export const BUILD: string = GINGHAM_BUILD;
