/**
 * `npm run memory`: attacks a process with large and costly bodies. It fails where an answer is not what it may be, where the process had
 * more memory than strangers may make it take, and where the next answer takes long. To be run on a quiet machine.
 */
import { DenoGateway } from "../support/deno.ts";
import { MEMORY_ATTACKS, MOST_MEMORY } from "../support/memory-attacks.ts";

const LONGEST_MS = 100;
const MOST_MB = MOST_MEMORY / 2 ** 20;

const gateway = await DenoGateway.start();
const healthy = async () => (await gateway.fetch("/healthz")).status === 200;
const rows: { attack: string; wrong: number; ms: number; MB: number }[] = [];
try {
  for (const { name, run } of MEMORY_ATTACKS) {
    const came = await run(gateway);
    const wrong = came.filter(({ status, allowed }) => !allowed.includes(status)).length;
    // The first request afterwards may need a connection.
    const lives = await healthy();
    const from = performance.now();
    const answers = await healthy();
    const ms = Math.round(performance.now() - from);
    const MB = Math.round((await gateway.peakMemory()) / 2 ** 20);
    rows.push({ attack: name, wrong: wrong + Number(!lives) + Number(!answers), ms, MB });
  }
} finally {
  await gateway.close();
}
console.table(rows);
const isBad = rows.some(({ wrong, ms, MB }) => wrong > 0 || ms >= LONGEST_MS || MB >= MOST_MB);
const bounds = `within ${LONGEST_MS} ms and ${MOST_MB} MB`;
console.log(isBad ? `Something was wrong, or not ${bounds}.` : `All was right, ${bounds}.`);
process.exit(isBad ? 1 : 0);
