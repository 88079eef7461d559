// @ts-check
/**
 * The rows of the M0 table t(k INTEGER PRIMARY KEY, v TEXT): keys 1…n, and for each key a value
 * of 32 hexadecimal digits that only depends on the key. Values look random, so no engine gains
 * from repetition, and every worker can check every row without being told what to expect.
 */

/** The length of every value, in characters. */
export const VALUE_CHARACTERS = 32;

/**
 * @param {number} key
 * @returns {string} the value that belongs to `key`
 */
export function valueOf(key) {
  let text = "";
  for (let word = 0; word < 4; word += 1) {
    text += (mix(Math.imul(key, 4) + word) >>> 0).toString(16).padStart(8, "0");
  }
  return text;
}

/**
 * Random keys between 1 and `rows`, the same for every engine.
 *
 * @param {number} count
 * @param {number} rows
 * @param {number} seed
 * @returns {Int32Array}
 */
export function randomKeys(count, rows, seed) {
  const keys = new Int32Array(count);
  for (let index = 0; index < count; index += 1) {
    keys[index] = 1 + ((mix(Math.imul(seed, 0x9e3779b1) + index) >>> 0) % rows);
  }
  return keys;
}

/**
 * The finalizer of MurmurHash3: every input bit moves every output bit.
 *
 * @param {number} input
 */
function mix(input) {
  let hash = input | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
