import { CASES, measure, report } from "./compare.mjs";
import { start, tell } from "./process.mjs";
import { gatewayOnWorkerd } from "./subjects.mjs";

const MODEL = "provider-v4-flash";
const SYSTEM = "You are a benchmark's assistant. Answer in few words.";

/** The same request in each dialect: where it goes, and what it says. */
const DIALECTS = [
  {
    name: "chat completions",
    path: () => "/v1/chat/completions",
    body: (prompt, stream) => ({ model: MODEL, stream, messages: conversation(prompt) }),
  },
  {
    name: "responses",
    path: () => "/v1/responses",
    // To be stored is what others cannot ask for.
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

/** Whole answers and fast streams: tools are offered in a way of each dialect's own. */
const ASKED = CASES.slice(0, 2);

/**
 * Says what each dialect costs as a ratio to chat completions, in blocks that take turns. Each is asked of a gateway of its own, so that
 * what is done behind its answers counts as its own.
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
