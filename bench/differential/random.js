/**
 * A seeded source of random choices. The same seed gives the same choices on every
 * machine, so that a seed replays a failure.
 */

export class Random {
  /** @param {number} seed any integer; 32 bits of it count */
  constructor(seed) {
    this.state = seed >>> 0;
  }

  /** The next 32 bits (mulberry32). */
  bits() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** A number in [0, 1). */
  fraction() {
    return this.bits() / 0x100000000;
  }

  /** An integer from `low` to `high`, both included. */
  integer(low, high) {
    return low + Math.floor(this.fraction() * (high - low + 1));
  }

  /** A BigInt of up to `bits` bits, of either sign. */
  bigint(bits) {
    let value = 0n;
    for (let taken = 0; taken < bits; taken += 32) value = (value << 32n) | BigInt(this.bits());
    return BigInt.asIntN(bits, value);
  }

  /** True with this probability. */
  chance(probability) {
    return this.fraction() < probability;
  }

  /** One element. */
  pick(list) {
    return list[this.integer(0, list.length - 1)];
  }

  /** One value of `[weight, value]` pairs; weights of 0 are never taken. */
  weighted(pairs) {
    const total = pairs.reduce((sum, [weight]) => sum + weight, 0);
    let at = this.fraction() * total;
    for (const [weight, value] of pairs) {
      at -= weight;
      if (weight > 0 && at < 0) return value;
    }
    return pairs.findLast(([weight]) => weight > 0)[1];
  }

  /** `count` different elements in random order; fewer if there are fewer. */
  sample(list, count) {
    return this.shuffled(list).slice(0, count);
  }

  /** The elements in random order. */
  shuffled(list) {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.integer(0, i);
      [copy[i], copy[j]] = [copy[j], copy[i]];
    }
    return copy;
  }

  /** A source of its own, so that what is drawn from it moves nothing here. */
  fork() {
    return new Random(this.bits());
  }
}
