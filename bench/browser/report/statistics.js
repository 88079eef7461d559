// @ts-check
/** The few statistics that the suites report. All of them refuse an empty list. */

/**
 * @param {readonly number[]} values
 * @returns {number} the middle value, or the mean of the two middle ones
 */
export function median(values) {
  const sorted = ascending(values);
  const half = sorted.length >> 1;
  const upper = at(sorted, half);
  return sorted.length % 2 === 1 ? upper : (at(sorted, half - 1) + upper) / 2;
}

/**
 * @param {readonly number[]} values
 * @param {number} share between 0 and 1
 * @returns {number} by nearest rank: the smallest value that at least `share` of all do not exceed
 */
export function percentile(values, share) {
  const sorted = ascending(values);
  const rank = Math.ceil(share * sorted.length);
  return at(sorted, Math.min(Math.max(rank, 1), sorted.length) - 1);
}

/**
 * @param {readonly number[]} values
 * @returns {number}
 */
export function mean(values) {
  return total(ascending(values)) / values.length;
}

/**
 * @param {readonly number[]} values
 * @returns {number} 0 for an empty list
 */
export function total(values) {
  return values.reduce((sum, value) => sum + value, 0);
}

/**
 * @param {readonly number[]} values all positive
 * @returns {number}
 */
export function geometricMean(values) {
  for (const value of values) {
    if (!(value > 0)) throw new Error(`the geometric mean needs positive values, not ${value}`);
  }
  return Math.exp(mean(values.map(Math.log)));
}

/** @param {readonly number[]} values */
function ascending(values) {
  if (values.length === 0) throw new Error("no values");
  return [...values].sort((a, b) => a - b);
}

/**
 * @param {readonly number[]} values
 * @param {number} index
 */
function at(values, index) {
  const value = values[index];
  if (value === undefined) throw new Error(`no value at ${index}`);
  return value;
}
