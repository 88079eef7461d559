/** The buffer in the core module's memory through which parameters and columns go in. */

import { reserve_input } from "./core.js";
import { Codes, GinghamError } from "./errors.js";

/** Room for one call's parameters or one column; the module's memory ends at 4 GiB. */
const BYTES_MAX = 0x7fff_0000;

/**
 * Makes room for `bytes` bytes.
 *
 * @returns the address, a multiple of eight; it holds until the next reservation
 */
export function reserveInput(bytes: number): number {
  const address = bytes <= BYTES_MAX ? reserve_input(bytes) : 0;
  if (address === 0) {
    throw new GinghamError({
      code: Codes.outOfMemory,
      message: `there is no memory for ${bytes} bytes of values`,
      hint: "pass fewer or smaller values at once",
    });
  }
  return address;
}
