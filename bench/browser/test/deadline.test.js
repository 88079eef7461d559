// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { DeadlineError, withDeadline } from "../harness/deadline.js";

test("a result in time passes through", async () => {
  assert.equal(await withDeadline(Promise.resolve(5), 1000, "x"), 5);
  await assert.rejects(withDeadline(Promise.reject(new Error("own")), 1000, "x"), /own/);
});

test("a wait that is too long is a named error, and a later failure of the work is no news", async () => {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 30));
  await assert.rejects(withDeadline(late, 5, "the answer"), (error) => {
    assert.ok(error instanceof DeadlineError);
    assert.match(error.message, /the answer took longer than 5 ms/);
    return true;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
});
