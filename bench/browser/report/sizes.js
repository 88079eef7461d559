// @ts-check
/**
 * What a file costs to download: raw, gzip and brotli bytes. Brotli at its best takes a minute
 * for DuckDB's module, so sizes are kept by content in the ignored cache.
 */

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { CACHE_FOLDER } from "../paths.js";

/** @typedef {{raw: number, gzip: number, brotli: number}} Sizes in bytes */

const GZIP_LEVEL = 9;
const BROTLI_QUALITY = 11;

/**
 * @param {readonly string[]} files
 * @returns {Promise<Sizes>} the sums over the files, each compressed on its own
 */
export async function downloadSizes(files) {
  const sum = { raw: 0, gzip: 0, brotli: 0 };
  for (const file of files) {
    const sizes = await sizesOf(await readFile(file));
    sum.raw += sizes.raw;
    sum.gzip += sizes.gzip;
    sum.brotli += sizes.brotli;
  }
  return sum;
}

/**
 * @param {Uint8Array} content
 * @returns {Promise<Sizes>}
 */
async function sizesOf(content) {
  const hash = createHash("sha256").update(content).digest("hex");
  const cached = join(CACHE_FOLDER, "sizes", `${hash}.json`);
  try {
    return /** @type {Sizes} */ (JSON.parse(await readFile(cached, "utf8")));
  } catch {
    // Not weighed yet.
  }
  const zipped = await promisify(gzip)(content, { level: GZIP_LEVEL });
  const squeezed = await promisify(brotliCompress)(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.byteLength,
    },
  });
  const sizes = { raw: content.byteLength, gzip: zipped.byteLength, brotli: squeezed.byteLength };
  await mkdir(join(CACHE_FOLDER, "sizes"), { recursive: true });
  await writeFile(cached, JSON.stringify(sizes));
  return sizes;
}
