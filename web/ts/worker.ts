/** The worker behind `connect`: hosts one database and answers its client, one call at a time. */

import { Database } from "./database.js";
import { Codes, GinghamError, toGinghamError } from "./errors.js";
import { adopt, compiledModules } from "./modules.js";
import type { CallName, Calls, Compiled, Progress, QueryParameters, Reply, Request, WireResult } from "./protocol.js";
import type { Statement } from "./statement.js";
import type { NamedParameters, Parameter } from "./values.js";

type Result = Calls[CallName]["result"];

let database: Database | undefined;

/** Calls are answered in the order they came in, the asynchronous ones included. */
let tail: Promise<void> = Promise.resolve();

self.addEventListener("message", (event: MessageEvent<Request>) => {
  tail = tail.then(() => answer(event.data));
});

async function answer(request: Request): Promise<void> {
  let reply: Reply;
  try {
    reply = { id: request.id, ok: true, result: await carryOut(request) };
  } catch (error) {
    reply = { id: request.id, ok: false, error: toGinghamError(error).toJSON() };
  }
  post(reply);
}

function post(reply: Reply | Progress | Compiled): void {
  const transfer = "ok" in reply && reply.ok && reply.result instanceof Uint8Array ? [reply.result.buffer as ArrayBuffer] : [];
  self.postMessage(reply, { transfer });
}

async function carryOut(request: Request): Promise<Result> {
  if (request.call === "open") {
    const { name, options, modules } = request.argument;
    if (modules !== undefined) adopt(modules);
    const opened = await Database.open(name, options);
    database = opened;
    opened.plannerInBackground().then(offerModules, offerModules);
    return undefined;
  }
  const db = database;
  if (db === undefined) throw new GinghamError({ code: Codes.closed, message: "the database is not open" });
  switch (request.call) {
    case "query":
      return query(db, request.argument.sql, request.argument.parameters);
    case "exec":
      return db.script(request.argument.sql);
    case "arrow":
      return (await prepare(db, request.argument.sql)).arrow(...spread(request.argument.parameters));
    case "insertMany":
      return db.insertMany(request.argument.table, request.argument.columns);
    case "insertArrow":
      return db.insertArrow(request.argument.table, request.argument.stream);
    case "import": {
      const { source, address, options } = request.argument;
      const from = address ? new URL(source as string) : source;
      return db.import(from, options, (progress) => post({ id: request.id, progress }));
    }
    case "begin":
      return transactionStep(db, request.argument.depth, "BEGIN", (name) => `SAVEPOINT ${name}`);
    case "commit":
      return transactionStep(db, request.argument.depth, "COMMIT", (name) => `RELEASE ${name}`);
    case "rollback":
      return transactionStep(db, request.argument.depth, "ROLLBACK", (name) => `ROLLBACK TO ${name}; RELEASE ${name}`);
    case "export":
      return db.export();
    case "ready":
      await db.ready();
      return undefined;
    case "close":
      database = undefined;
      db.close();
      return undefined;
  }
}

async function query(db: Database, sql: string, parameters: QueryParameters): Promise<WireResult> {
  return (await prepare(db, sql)).columnar(...spread(parameters));
}

/**
 * Waits for the planner where the statement needs it. To load it on the spot would take as long, and
 * no browser caches code that was compiled so.
 */
async function prepare(db: Database, sql: string): Promise<Statement> {
  const statement = db.prepareAtOnce(sql);
  if (statement !== undefined) return statement;
  // Where that fails, preparing says why.
  await db.plannerLoaded().catch(() => {});
  return db.prepare(sql);
}

/** Gives the page what was compiled here. */
function offerModules(): void {
  post({ compiled: compiledModules() });
}

function transactionStep(db: Database, depth: number, outermost: string, inner: (name: string) => string): undefined {
  db.exec(depth === 0 ? outermost : inner(`gingham_client_${depth}`));
  return undefined;
}

function spread(parameters: QueryParameters): [readonly Parameter[]] | [NamedParameters] {
  return [parameters] as [readonly Parameter[]] | [NamedParameters];
}
