import { CASES, measure, report } from "./compare.mjs";
import { start, tell } from "./process.mjs";
import { gatewayOnWorkerd } from "./subjects.mjs";

const MODEL = "provider-v4-flash";
const SYSTEM = "You are a benchmark's assistant. Answer in few words.";

/** The same request in each dialect: path and body. */
const DIALECTS = [
  {
    name: "chat completions",
    path: () => "/v1/chat/completions",
    body: (prompt, stream) => ({ model: MODEL, stream, messages: conversation(prompt) }),
  },
  {
    name: "responses",
    path: () => "/v1/responses",
    // Do not store the response, because the other dialects cannot store.
    body: (prompt, stream) => ({ model: MODEL, stream, store: false, instructions: SYSTEM, input: prompt }),
  },
  {
    name: "responses, stored",
    path: () => "/v1/responses",
    body: (prompt, stream) => ({ model: MODEL, stream, instructions: SYSTEM, input: prompt }),
  },
  {
    name: "messages",
    path: () => "/v1/messages",
    body: (prompt, stream) => ({
      model: MODEL,
      stream,
      max_tokens: 1024,
      system: SYSTEM,
      messages: [{ role: "user", content: prompt }],
    }),
  },
  {
    name: "content generation",
    path: (stream) =>
      `/v1beta/models/${MODEL}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: (prompt) => ({
      systemInstruction: { parts: [{ text: SYSTEM }] },
      contents: [{ role: "user", parts: [{ text: prompt }] }],
    }),
  },
  {
    name: "local runner, chat",
    path: () => "/api/chat",
    body: (prompt, stream) => ({ model: MODEL, stream, messages: conversation(prompt) }),
  },
  {
    name: "local runner, generate",
    path: () => "/api/generate",
    body: (prompt, stream) => ({ model: MODEL, stream, system: SYSTEM, prompt }),
  },
];

const conversation = (prompt) => [
  { role: "system", content: SYSTEM },
  { role: "user", content: prompt },
];

/** Whole answers and fast streams only: the form of tools differs by dialect. */
const ASKED = CASES.slice(0, 2);

/**
 * Measures the cost of each dialect as a ratio to chat completions, in alternating blocks. Each dialect has its own
 * gateway, so that background work counts for the right dialect.
 *
 * @param {{ rounds?: number, only?: readonly number[] }} [options] `only`: numbers of the cases
 */
export async function run({ rounds = 20, only } = {}) {
  const upstream = await start("upstream.mjs");
  const load = await start("load.mjs");
  const subjects = [];
  try {
    for (const dialect of DIALECTS) {
      const gateway = await gatewayOnWorkerd(upstream.ready, { name: dialect.name });
      subjects.push({ ...gateway, dialect });
    }
    for (const [index, { name, job, block }] of ASKED.entries()) {
      if (only !== undefined && !only.includes(index)) continue;
      const ask = ({ port, dialect }, count = block) => {
        const body = JSON.stringify(dialect.body(job.prompt, job.stream));
        return tell(load.child, { ...job, count, port, path: dialect.path(job.stream), body });
      };
      console.log(`\n${name}, ${rounds} rounds of ${block}`);
      report(await measure(subjects, ask, rounds), block);
    }
  } finally {
    await Promise.allSettled(subjects.map((subject) => subject.close()));
    upstream.child.disconnect();
    load.child.disconnect();
  }
}
