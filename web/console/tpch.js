// @ts-check
/** TPC-H data and queries, where the server that shows the console has them and says so. */

/** @typedef {import("../dist/index.js").Client} Client */

/**
 * @typedef {object} Console what the console lets this part do
 * @property {(sql: string) => void} setSql
 * @property {() => Promise<void>} changed
 * @property {(text: string) => void} report
 */

const QUERIES = 22;

/**
 * Shows the TPC-H part of the page if the address says that the server has the data.
 *
 * @param {Client} db
 * @param {Console} page
 */
export function offerTpch(db, page) {
  const scale = new URLSearchParams(location.search).get("tpch");
  if (scale === null) return;
  /** @type {HTMLElement} */ (document.getElementById("tpch")).hidden = false;
  const button = /** @type {HTMLButtonElement} */ (document.getElementById("load"));
  button.textContent = `Load the data, SF ${scale}`;
  button.onclick = () => {
    button.disabled = true;
    load(db, page)
      .catch((error) => page.report(`loading failed: ${error.message}`))
      .finally(() => (button.disabled = false));
  };
  const select = /** @type {HTMLSelectElement} */ (document.getElementById("examples"));
  select.append(new Option("choose…", ""));
  for (let number = 1; number <= QUERIES; number += 1) select.append(new Option(`Q${number}`, String(number)));
  select.onchange = async () => {
    if (select.value === "") return;
    const response = await fetch(`/queries/q${select.value.padStart(2, "0")}.sql`);
    page.setSql(await response.text());
  };
}

/**
 * Loads the eight tables in one transaction; tables of those names are replaced.
 *
 * @param {Client} db
 * @param {Console} page
 */
async function load(db, page) {
  const { TABLES, createTableSql } = await import(/** @type {any} */ ("/bench/tpch/schema.js"));
  const start = performance.now();
  let total = 0;
  await db.transaction(async (tx) => {
    for (const { name, columns } of TABLES) {
      await tx.exec(`DROP TABLE IF EXISTS ${name}; ${createTableSql({ name, columns })} WITH (storage = 'column')`);
      const before = total;
      const { changes } = await tx.import(
        new URL(`/data/${name}.csv`, location.href),
        { table: name, format: "csv" },
        ({ rows }) => page.report(`loading ${name}: ${(before + rows).toLocaleString("en-US")} rows`),
      );
      total = before + changes;
    }
  });
  page.report(`${total.toLocaleString("en-US")} rows loaded in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  await page.changed();
}
