import { resolve } from "node:path";
import { buildBundles } from "../../test/support/bundle.ts";
import { measure, report } from "./compare.mjs";
import { start, tell } from "./process.mjs";
import { gatewayOnDeno, gatewayOnWorkerd, peerOnDeno, peersOnWorkerd } from "./subjects.mjs";

const PEERS = ["copying loop", "pass-through"];

/** How a stream goes through the gateway. */
const FORMS = [
  {
    name: "chat, nothing changed",
    path: "/v1/chat/completions",
    job: { usage: true },
  },
  {
    // The caller does not ask for the usage: the gateway does, and hides its event.
    name: "chat, an event hidden",
    path: "/v1/chat/completions",
    job: {},
  },
  {
    name: "messages, the model renamed",
    path: "/v1/messages",
    job: {},
    body: (prompt) => ({
      model: "vendor/m",
      stream: true,
      max_tokens: 100,
      messages: [{ role: "user", content: prompt }],
    }),
  },
];

const LOADS = [
  {
    name: "100 chunks at once",
    prompt: "Count. [burst:100]",
    chunks: 100,
    parallel: 16,
    block: 32,
    share: 1,
  },
  {
    name: "200 live streams, 50 chunks at 20 ms",
    prompt: "Go on. [live:50:20]",
    chunks: 50,
    parallel: 200,
    staggerMs: 5,
    block: 200,
    share: 0.2,
  },
];

/**
 * Measures streams in the forms in which they go through the gateway, as ratios to a server that copies each chunk. Blocks of
 * all subjects take turns.
 *
 * @param {readonly string[]} folders other builds, or checkouts on Deno: `NAME=FOLDER`
 * @param {{ rounds?: number, only?: readonly number[], runtime?: "workerd" | "deno" }} [options] `only`: numbers of the
 *   forms
 */
export async function run(folders, { rounds = 40, only, runtime = "workerd" } = {}) {
  const upstream = await start("upstream.mjs");
  const load = await start("load.mjs");
  const subjects = [];
  try {
    if (runtime === "deno") {
      for (const name of PEERS.toReversed()) subjects.push(await peerOnDeno(upstream.ready, name));
    } else
      subjects.push(...(await peersOnWorkerd(upstream.ready)).filter(({ name }) => PEERS.includes(name)));
    subjects.sort((one, other) => one.name.localeCompare(other.name));
    const builds = [...folders, "this="].map((each) => each.split("="));
    for (const [name, folder] of builds) {
      const bundle = folder === "" ? (await buildBundles()).gateway : { folder, entry: "worker.js" };
      subjects.push(
        runtime === "deno"
          ? await gatewayOnDeno(upstream.ready, { name, ...(folder !== "" && { folder: resolve(folder) }) })
          : await gatewayOnWorkerd(upstream.ready, { name, bundle }),
      );
    }
    for (const { name, path, job, body } of FORMS.filter((_, index) => only?.includes(index) ?? true)) {
      for (const { name: load_, block, share, prompt, ...more } of LOADS) {
        const content = body === undefined ? {} : { body: JSON.stringify(body(prompt)) };
        const ask = ({ port }) =>
          tell(load.child, { ...job, ...more, ...content, prompt, stream: true, count: block, port, path });
        const times = Math.max(3, Math.round(rounds * share));
        console.log(`\n${name}, ${load_}, ${times} rounds of ${block}`);
        const first = new Map();
        const timed = async (subject) => {
          const result = await ask(subject);
          first.set(subject.name, [...(first.get(subject.name) ?? []), ...result.first]);
        };
        report(await measure(subjects, timed, times, share === 1 ? undefined : 1), block);
        for (const [subject, all] of first) {
          all.sort((one, other) => one - other);
          const at = (part) => (all[Math.floor(all.length * part)] / 1000).toFixed(1);
          console.log(`${subject.padEnd(28)} first content after ${at(0.5)} ms, 99 of 100 ${at(0.99)} ms`);
        }
      }
    }
  } finally {
    await Promise.allSettled(subjects.map((subject) => subject.close()));
    upstream.child.disconnect();
    load.child.disconnect();
  }
}
