/**
 * The files of a database in the origin private file system: opened before the engine starts,
 * closed after it stopped. A database is owned by one worker at a time.
 */

import { Codes, GinghamError } from "./errors.js";

/** The part of `FileSystemSyncAccessHandle` that is used; TypeScript's DOM library leaves it out. */
export interface SyncAccessHandle {
  read(buffer: Uint8Array, options: { at: number }): number;
  write(buffer: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
}

interface SyncFileHandle extends FileSystemFileHandle {
  createSyncAccessHandle?: () => Promise<SyncAccessHandle>;
}

/** The open files of one database. */
export interface OpenFiles {
  readonly names: string[];
  readonly handles: SyncAccessHandle[];
  /** Closes the files and lets others have the database. Safe to call twice. */
  release(): void;
}

const DIRECTORY = "gingham";

/**
 * How long an owner that is going away may take to let go. A terminated worker's lock and files
 * are released some time after `terminate` has returned: milliseconds on an idle machine, over a
 * second (measured) on one with ten times more work than cores.
 */
const GRACE_MS = 3000;
const RETRY_MS = 10;

/** Opens the files of a database, creating them where they are missing. */
export async function openFiles(name: string): Promise<OpenFiles> {
  const unlock = await lock(name);
  const handles: SyncAccessHandle[] = [];
  let open = true;
  const release = (): void => {
    if (!open) return;
    open = false;
    for (const handle of handles) handle.close();
    unlock();
  };
  try {
    const directory = await databaseDirectory(true);
    for (const entry of fileNames(name)) {
      const file: SyncFileHandle = await directory.getFileHandle(entry, { create: true });
      handles.push(await openHandle(name, file));
    }
    return { names: [name, `${name}-temp`], handles, release };
  } catch (error) {
    release();
    throw asGinghamError(name, error);
  }
}

/** Removes a database that nobody has open. No error if there is none. */
export async function deleteFiles(name: string): Promise<void> {
  const unlock = await lock(name);
  try {
    const directory = await databaseDirectory(false);
    for (const entry of fileNames(name)) await directory.removeEntry(entry).catch(unlessMissing);
  } catch (error) {
    if (!isMissing(error)) throw asGinghamError(name, error);
  } finally {
    unlock();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof DOMException && error.name === "NotFoundError";
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

/** The database's file, then the one that statements spill to; the engine knows it as NAME-temp. */
function fileNames(name: string): [string, string] {
  // OPFS refuses slashes and dots alone; any name becomes one that it takes.
  const file = `${encodeURIComponent(name)}.gingham`;
  return [file, `${file}-temp`];
}

async function databaseDirectory(create: boolean): Promise<FileSystemDirectoryHandle> {
  if (navigator.storage?.getDirectory === undefined) throw unsupported("this browser has no origin private file system");
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(DIRECTORY, { create });
}

async function openHandle(name: string, file: SyncFileHandle): Promise<SyncAccessHandle> {
  if (file.createSyncAccessHandle === undefined) {
    throw unsupported("storage 'opfs' needs a dedicated worker; a page uses connect() from the package 'gingham'");
  }
  const deadline = performance.now() + GRACE_MS;
  for (;;) {
    try {
      return await file.createSyncAccessHandle();
    } catch (error) {
      const taken = error instanceof DOMException && error.name === "NoModificationAllowedError";
      if (!taken) throw error;
      if (performance.now() > deadline) throw locked(name);
      await pause();
    }
  }
}

/**
 * Takes the database's Web Lock. The access handle is exclusive too, but the lock also keeps
 * others out between the opening of two files and while a database is deleted.
 */
async function lock(name: string): Promise<() => void> {
  if (navigator.locks === undefined) return () => {};
  const deadline = performance.now() + GRACE_MS;
  for (;;) {
    const release = await tryLock(`gingham:${name}`);
    if (release !== undefined) return release;
    if (performance.now() > deadline) throw locked(name);
    await pause();
  }
}

function tryLock(lockName: string): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    const held = navigator.locks.request(lockName, { ifAvailable: true }, (granted) => {
      if (granted === null) return resolve(undefined);
      return new Promise<void>((release) => resolve(() => release()));
    });
    held.catch(reject);
  });
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

function locked(name: string): GinghamError {
  return new GinghamError({
    code: Codes.locked,
    message: `database '${name}' is open in another tab or worker`,
    hint: "close it there, or close that tab",
  });
}

function unsupported(message: string): GinghamError {
  return new GinghamError({ code: Codes.unsupported, message, hint: "storage 'memory' works everywhere" });
}

function asGinghamError(name: string, error: unknown): GinghamError {
  if (error instanceof GinghamError) return error;
  const exception = error instanceof Error ? error : new Error(String(error));
  if (exception.name === "QuotaExceededError") {
    return new GinghamError({ code: Codes.full, message: `no room for database '${name}'` }, { cause: error });
  }
  if (exception.name === "SecurityError") return unsupported(`the browser refuses files here: ${exception.message}`);
  return new GinghamError(
    { code: Codes.io, message: `database '${name}' could not be opened: ${exception.name}: ${exception.message}` },
    { cause: error },
  );
}
