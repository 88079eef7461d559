/**
 * The core module's memory through typed arrays. Growing the memory detaches every view, so
 * views are renewed after each call into the module that may have grown it.
 */

/** Views of the module's whole memory, indexed by address divided by element size. */
export class Memory {
  readonly #memory: WebAssembly.Memory;
  u8!: Uint8Array<ArrayBuffer>;
  i32!: Int32Array<ArrayBuffer>;
  u32!: Uint32Array<ArrayBuffer>;
  f64!: Float64Array<ArrayBuffer>;
  i64!: BigInt64Array<ArrayBuffer>;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#renew();
  }

  /** Makes the views valid again if the memory has grown. */
  refresh(): void {
    if (this.u8.length === 0) this.#renew();
  }

  #renew(): void {
    const buffer = this.#memory.buffer as ArrayBuffer;
    this.u8 = new Uint8Array(buffer);
    this.i32 = new Int32Array(buffer);
    this.u32 = new Uint32Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.i64 = new BigInt64Array(buffer);
  }
}
