// The load generator, in its own process: persistent raw sockets, and one job at a time from the parent.
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { clockUs } from "./process.mjs";

/** The size line between two pieces of a chunked body. A piece may end inside a stamp. */
const SIZE_LINE = /\r\n[\da-f]+\r\n/gi;
const STAMP = /t(?:\r\n[\da-f]+\r\n)?=((?:\d|\r\n[\da-f]+\r\n)+);/gi;
/** Maximum length of a stamp. The end of each read is scanned again with the next one, because a stamp may be split. */
const STAMP_LENGTH = 40;
const TIMEOUT_MS = 60_000;

const TOOLS = ["read_file", "write_file", "search"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object", properties: { path: { type: "string" } } } },
}));

/** Returns the bytes of a request with the prompt `prompt`: a chat completion, unless `body` is given. */
function requestBytes({
  port,
  path,
  prompt,
  stream,
  key = "sk-bench",
  model = "provider-v4-flash",
  tools = false,
  usage = false,
  body,
}) {
  const asked =
    body ??
    JSON.stringify({
      model,
      stream,
      ...(tools && { tools: TOOLS }),
      ...(usage && { stream_options: { include_usage: true } }),
      messages: [
        { role: "system", content: "You are a benchmark's assistant. Answer in few words." },
        { role: "user", content: prompt },
      ],
    });
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${key}\r\n` +
    `content-type: application/json\r\ncontent-length: ${asked.length}\r\n\r\n${asked}`
  );
}

/** One connection with sequential requests. Stores their results in `results`. */
class Connection {
  #socket;
  #text = "";
  #exchange = null;
  #closed = null;

  constructor(port) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.opened = once(this.#socket, "connect");
    this.#socket.setEncoding("latin1");
    this.#socket.on("data", (text) => this.#read(text));
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  /** Resolves with the arrival times of the first content and of each chunk, in microseconds. */
  request(bytes, chunks) {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    this.#text = "";
    return new Promise((resolve, reject) => {
      this.#exchange = {
        resolve,
        reject,
        chunks,
        sentAt: clockUs(),
        firstUs: 0,
        lags: [],
        scanned: 0,
        length: -1,
      };
      this.#socket.write(bytes);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #fail(error) {
    this.#closed ??= error;
    this.#exchange?.reject(this.#closed);
    this.#exchange = null;
  }

  #read(piece) {
    const exchange = this.#exchange;
    if (exchange === null) return;
    const now = clockUs();
    this.#text += piece;
    const text = this.#text;
    if (exchange.scanned === 0) {
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) return;
      const head = text.slice(0, end);
      if (!head.startsWith("HTTP/1.1 200 ")) return this.#fail(new Error(text.slice(0, 1000)));
      const length = /content-length: (\d+)/i.exec(head);
      exchange.scanned = end + 4;
      if (length !== null) exchange.length = end + 4 + Number(length[1]);
    }
    if (exchange.chunks > 0) {
      STAMP.lastIndex = exchange.scanned;
      for (let found = STAMP.exec(text); found !== null; found = STAMP.exec(text)) {
        // Some dialects repeat the whole text at the end; ignore the repetition.
        if (exchange.lags.length < exchange.chunks)
          exchange.lags.push(now - Number(found[1].replace(SIZE_LINE, "")));
        exchange.scanned = found.index + found[0].length;
      }
      exchange.scanned = Math.max(exchange.scanned, text.length - STAMP_LENGTH);
    }
    if (exchange.firstUs === 0 && (exchange.chunks === 0 || exchange.lags.length > 0)) {
      exchange.firstUs = now - exchange.sentAt;
    }
    const ended = exchange.length >= 0 ? text.length >= exchange.length : text.endsWith("\r\n0\r\n\r\n");
    if (!ended) return;
    this.#exchange = null;
    if (exchange.lags.length !== exchange.chunks) {
      exchange.reject(
        new Error(`${exchange.lags.length} of ${exchange.chunks} chunks arrived:\n${text.slice(-600)}`),
      );
      return;
    }
    exchange.resolve({ firstUs: exchange.firstUs, totalUs: now - exchange.sentAt, lags: exchange.lags });
  }
}

/**
 * Runs one job: `parallel` clients make `count` requests in total. The clients start `staggerMs` apart.
 *
 * @returns wall-clock milliseconds, and microseconds for each request or chunk
 */
async function run({ chunks, parallel, count, staggerMs = 0, ...request }) {
  const { port } = request;
  const bytes = requestBytes(request);
  const first = [];
  const total = [];
  const lags = [];
  let left = count;
  const connections = [];
  const client = async (_, index) => {
    if (staggerMs > 0) await sleep(index * staggerMs);
    const connection = new Connection(port);
    connections.push(connection);
    await connection.opened;
    while (left > 0) {
      left -= 1;
      const result = await connection.request(bytes, chunks);
      first.push(result.firstUs);
      total.push(result.totalUs);
      for (const lag of result.lags) lags.push(lag);
    }
  };
  const startedAt = performance.now();
  const timeout = sleep(TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error("the load did not end in time");
  });
  try {
    await Promise.race([Promise.all(Array.from({ length: parallel }, client)), timeout]);
  } finally {
    timeout.catch(() => undefined);
    for (const connection of connections) connection.close();
  }
  return { wallMs: performance.now() - startedAt, first, total, lags };
}

process.on("message", async (job) => {
  try {
    process.send({ result: await run(job) });
  } catch (error) {
    process.send({ error: error.message });
  }
});
process.on("disconnect", () => process.exit());
process.send("ready");
