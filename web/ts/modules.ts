/**
 * Where the two wasm modules come from: fetched and compiled, or handed over by the page.
 *
 * Compiled while they stream in, straight from `fetch`: a browser that caches optimized code across
 * visits does so for modules compiled in this way only. A page keeps the modules that the first of
 * its workers compiled, and hands them to each that `connect` starts later: those fetch and compile
 * nothing, and share what code the browser has optimized.
 */

import { BUILD } from "./build.js";

/** The modules of the package. */
export type ModuleName = "core" | "planner";

const ADDRESSES: Readonly<Record<ModuleName, URL>> = {
  core: new URL("./core_bg.wasm", import.meta.url),
  planner: new URL("./planner_bg.wasm", import.meta.url),
};

/** Modules of one build of the package: those of another would not understand each other. */
export interface CompiledModules {
  readonly build: string;
  core?: WebAssembly.Module;
  planner?: WebAssembly.Module;
}

/** What this worker was handed or has compiled itself. */
const present: CompiledModules = { build: BUILD };

/** Takes over what a page has kept, unless its package is another than this worker's. */
export function adopt(modules: CompiledModules): void {
  if (modules.build === BUILD) Object.assign(present, modules);
}

/** What there is to hand over. */
export function compiledModules(): CompiledModules {
  return { ...present };
}

/** A module that can be had without waiting. */
export function presentModule(name: ModuleName): WebAssembly.Module | undefined {
  return present[name];
}

/** A module: the one that is present, else fetched, which `signal` ends, and compiled. */
export async function loadModule(name: ModuleName, signal?: AbortSignal): Promise<WebAssembly.Module> {
  return (present[name] ??= await compile(ADDRESSES[name], signal));
}

/** As `loadModule`, on the spot, which only a worker may do. No browser caches code compiled so. */
export function loadModuleNow(name: ModuleName): WebAssembly.Module {
  return (present[name] ??= new WebAssembly.Module(fetchNow(ADDRESSES[name]) as BufferSource));
}

async function compile(url: URL, signal?: AbortSignal): Promise<WebAssembly.Module> {
  const response = await fetch(url, signal === undefined ? {} : { signal });
  if (!response.ok) throw new Error(`${url.pathname} was answered with ${response.status}`);
  // Streaming needs the right content type, which not every server sends.
  if (response.headers.get("Content-Type")?.startsWith("application/wasm") === true) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

function fetchNow(url: URL): ArrayBuffer {
  const request = new XMLHttpRequest();
  request.open("GET", url, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200 && request.status !== 0) {
    throw new Error(`${url.pathname} was answered with ${request.status}`);
  }
  return request.response as ArrayBuffer;
}
