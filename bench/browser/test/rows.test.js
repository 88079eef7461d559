// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomKeys, valueOf, VALUE_CHARACTERS } from "../worker/rows.js";

test("values have 32 characters, depend on the key alone and differ", () => {
  const values = new Set(Array.from({ length: 100_000 }, (_, index) => valueOf(index + 1)));
  assert.equal(values.size, 100_000);
  for (const value of values) assert.ok(value.length === VALUE_CHARACTERS && /^[0-9a-f]+$/.test(value));
  assert.equal(valueOf(1), valueOf(1));
});

test("random keys stay within the table, repeat for a seed and spread over it", () => {
  const keys = randomKeys(10_000, 1000, 7);
  assert.ok(keys.every((key) => key >= 1 && key <= 1000));
  assert.deepEqual(randomKeys(10_000, 1000, 7), keys);
  assert.notDeepEqual(randomKeys(10_000, 1000, 8), keys);
  assert.ok(new Set(keys).size > 990);
});
