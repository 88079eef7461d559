// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { geometricMean, mean, median, percentile, total } from "../report/statistics.js";

test("the median of an even count is the mean of the middle two", () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([10, 9, 1]), 9);
  assert.equal(median([7]), 7);
});

test("percentiles are values that occurred, by nearest rank", () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  assert.equal(percentile(values, 0.5), 100);
  assert.equal(percentile(values, 0.95), 190);
  assert.equal(percentile(values, 1), 200);
  assert.equal(percentile(values, 0), 1);
  assert.equal(percentile([3], 0.95), 3);
});

test("means", () => {
  assert.equal(mean([1, 2, 6]), 3);
  assert.equal(total([]), 0);
  assert.ok(Math.abs(geometricMean([1, 10, 100]) - 10) < 1e-12);
});

test("statistics of nothing are an error", () => {
  assert.throws(() => median([]), /no values/);
  assert.throws(() => mean([]), /no values/);
  assert.throws(() => percentile([], 0.5), /no values/);
  assert.throws(() => geometricMean([1, 0]), /positive/);
});

test("statistics leave their input as it was", () => {
  const values = [3, 1, 2];
  median(values);
  assert.deepEqual(values, [3, 1, 2]);
});
