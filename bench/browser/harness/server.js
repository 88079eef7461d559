// @ts-check
/**
 * A static HTTP server on the loopback address: folders under URL prefixes, correct content
 * types, byte ranges (DuckDB reads its input by ranges), HEAD, revalidation by ETag. It keeps a
 * log of what was asked for, from which the suites weigh what an engine downloads.
 */

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join, normalize, sep } from "node:path";
import { contentType } from "./mime.js";

/**
 * @typedef {object} ServerOptions
 * @property {Record<string, string>} mounts URL prefix (starting and ending with "/") → folder;
 *   the longest matching prefix wins
 * @property {number} [port] 0, the default, lets the system choose
 * @property {string} [cacheControl] the Cache-Control of every answer; "no-cache" by default, so
 *   that a rebuilt package is never served stale
 * @property {Record<string, string>} [headers] more headers for every answer
 *
 * @typedef {object} ServedFile
 * @property {string} path the URL path that was asked for, without the query
 * @property {string} file where it came from
 *
 * @typedef {object} StaticServer
 * @property {string} origin such as "http://127.0.0.1:40123"
 * @property {ServedFile[]} served files answered so far, in order, repeats included
 * @property {string[]} missing paths that were answered with 404
 * @property {() => Promise<void>} close
 */

/**
 * Starts a server.
 *
 * @param {ServerOptions} options
 * @returns {Promise<StaticServer>}
 */
export async function startServer(options) {
  const prefixes = Object.keys(options.mounts).sort((a, b) => b.length - a.length);
  for (const prefix of prefixes) {
    if (!prefix.startsWith("/") || !prefix.endsWith("/")) {
      throw new Error(`the mount ${JSON.stringify(prefix)} must start and end with "/"`);
    }
  }
  /** @type {ServedFile[]} */
  const served = [];
  /** @type {string[]} */
  const missing = [];

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(500, { "Content-Type": "text/plain" });
      response.end(String(error));
    });
  });

  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async function answer(request, response) {
    const path = urlPath(request.url ?? "/");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { Allow: "GET, HEAD" }).end();
      return;
    }
    const file = path === undefined ? undefined : locate(path, prefixes, options.mounts);
    const facts = file === undefined ? undefined : await stat(file).catch(() => undefined);
    if (path === undefined || file === undefined || facts === undefined || !facts.isFile()) {
      // Browsers ask for an icon by themselves; an empty answer keeps the console clean.
      if (path === "/favicon.ico") {
        response.writeHead(204).end();
        return;
      }
      missing.push(path ?? request.url ?? "");
      response.writeHead(404, { "Content-Type": "text/plain" }).end(`not found: ${path}\n`);
      return;
    }
    served.push({ path, file });
    const etag = `"${facts.size.toString(36)}-${Math.trunc(facts.mtimeMs).toString(36)}"`;
    /** @type {Record<string, string | number>} */
    const headers = {
      "Content-Type": contentType(file),
      "Cache-Control": options.cacheControl ?? "no-cache",
      "Last-Modified": facts.mtime.toUTCString(),
      "Accept-Ranges": "bytes",
      ETag: etag,
      ...options.headers,
    };
    if (request.headers["if-none-match"] === etag) {
      response.writeHead(304, headers).end();
      return;
    }
    const range = parseRange(request.headers.range, facts.size);
    if (range === "unsatisfiable") {
      response.writeHead(416, { ...headers, "Content-Range": `bytes */${facts.size}` }).end();
      return;
    }
    const { first, last } = range ?? { first: 0, last: facts.size - 1 };
    headers["Content-Length"] = last - first + 1;
    if (range !== undefined) headers["Content-Range"] = `bytes ${first}-${last}/${facts.size}`;
    response.writeHead(range === undefined ? 200 : 206, headers);
    if (request.method === "HEAD" || last < first) {
      response.end();
      return;
    }
    const stream = createReadStream(file, { start: first, end: last });
    stream.on("error", (error) => response.destroy(error));
    response.on("close", () => stream.destroy());
    stream.pipe(response);
  }

  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", () => resolve(undefined));
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    served,
    missing,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * @param {string} url
 * @returns {string | undefined} the decoded path, or undefined where it is malformed
 */
function urlPath(url) {
  try {
    const path = decodeURIComponent(new URL(url, "http://localhost").pathname);
    return path.includes("\0") ? undefined : path;
  } catch {
    return undefined;
  }
}

/**
 * @param {string} path
 * @param {string[]} prefixes longest first
 * @param {Record<string, string>} mounts
 * @returns {string | undefined} the file, which may not exist but lies inside its mount
 */
function locate(path, prefixes, mounts) {
  const prefix = prefixes.find((candidate) => path.startsWith(candidate));
  const folder = prefix === undefined ? undefined : mounts[prefix];
  if (prefix === undefined || folder === undefined) return undefined;
  const rest = path.slice(prefix.length);
  const file = normalize(join(folder, rest === "" || rest.endsWith("/") ? `${rest}index.html` : rest));
  return file.startsWith(normalize(folder + sep)) ? file : undefined;
}

/**
 * Parses a Range header with a single byte range, the only kind that browsers' engines send.
 *
 * @param {string | undefined} header
 * @param {number} sizeBytes
 * @returns {{first: number, last: number} | "unsatisfiable" | undefined} undefined: send it all
 */
export function parseRange(header, sizeBytes) {
  const match = header === undefined ? null : /^bytes=(\d*)-(\d*)$/.exec(header);
  if (match === null || (match[1] === "" && match[2] === "")) return undefined;
  if (match[1] === "") {
    const length = Math.min(Number(match[2]), sizeBytes);
    return length === 0 ? "unsatisfiable" : { first: sizeBytes - length, last: sizeBytes - 1 };
  }
  const first = Number(match[1]);
  const last = match[2] === "" ? sizeBytes - 1 : Math.min(Number(match[2]), sizeBytes - 1);
  return first >= sizeBytes || last < first ? "unsatisfiable" : { first, last };
}
