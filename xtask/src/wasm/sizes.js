// Prints one line of JSON for each file named after the cache folder: its bytes raw, gzipped at
// level 9 and with brotli at quality 11. Compressed sizes are kept in the cache by content.
const { createHash } = require("node:crypto");
const { mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { brotliCompressSync, constants, gzipSync } = require("node:zlib");

const [cache, ...files] = process.argv.slice(1);
mkdirSync(cache, { recursive: true });
for (const path of files) {
  const contents = readFileSync(path);
  const entry = join(cache, `${createHash("sha256").update(contents).digest("hex")}.json`);
  let sizes;
  try {
    sizes = JSON.parse(readFileSync(entry, "utf8"));
  } catch {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: contents.length,
    };
    sizes = {
      raw: contents.length,
      gzip: gzipSync(contents, { level: 9 }).length,
      brotli: brotliCompressSync(contents, { params }).length,
    };
    writeFileSync(entry, JSON.stringify(sizes));
  }
  console.log(JSON.stringify({ path, ...sizes }));
}
