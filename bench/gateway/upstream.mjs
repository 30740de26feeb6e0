// A chat-completions server with minimal cost, in its own process: precomputed bytes on raw sockets. The text of the
// request selects the answer: `[burst:N]` sends N chunks at once, `[live:N:MS]` sends N chunks with a pause between them,
// anything else gets a short answer. Every chunk contains its write time.
import { createServer } from "node:net";
import { clockUs } from "./process.mjs";

const HEAD_END = Buffer.from("\r\n\r\n");
const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
const LAST_CHUNK = "0\r\n\r\n";

const WHOLE = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: "An answer of a few words, as canned as it can be." },
      finish_reason: "stop",
    },
  ],
  usage: { prompt_tokens: 12, completion_tokens: 11, total_tokens: 23 },
});
const WHOLE_ANSWER = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${WHOLE.length}\r\n\r\n${WHOLE}`;

const EVENT_HEAD =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[';

/** Formats one event as one chunk of a chunked body. */
function chunk(event) {
  return `${event.length.toString(16)}\r\n${event}\r\n`;
}

const delta = (fields, reason = "null") =>
  `${EVENT_HEAD}{"index":0,"delta":${fields},"finish_reason":${reason}}]}\n\n`;

const OPENING = delta('{"role":"assistant","content":""}');
const CLOSING = [
  delta("{}", '"stop"'),
  `${EVENT_HEAD}],"usage":{"prompt_tokens":12,"completion_tokens":11,"total_tokens":23}}\n\n`,
  "data: [DONE]\n\n",
];
const FIRST = STREAM_HEAD + chunk(OPENING);
const LAST = CLOSING.map(chunk).join("") + LAST_CHUNK;

/** A short answer is complete at once, so all its events form one chunk of the body. */
const SHORT_STREAM =
  STREAM_HEAD +
  chunk(
    OPENING + delta('{"content":"An answer of a few words, as canned as it can be."}') + CLOSING.join(""),
  ) +
  LAST_CHUNK;

const stamped = () => chunk(delta(`{"content":" t=${clockUs()};"}`));

function answer(socket, body) {
  if (!/"stream":\s*true/.test(body)) return void socket.write(WHOLE_ANSWER);
  const burst = /\[burst:(\d+)\]/.exec(body);
  if (burst !== null) {
    let text = FIRST;
    for (let left = Number(burst[1]); left > 0; left -= 1) text += stamped();
    return void socket.write(text + LAST);
  }
  const live = /\[live:(\d+):(\d+)\]/.exec(body);
  if (live === null) return void socket.write(SHORT_STREAM);
  let left = Number(live[1]);
  socket.write(FIRST + stamped());
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return void socket.write(stamped());
    clearInterval(timer);
    socket.write(LAST);
  }, Number(live[2]));
  socket.once("close", () => clearInterval(timer));
}

const server = createServer({ noDelay: true }, (socket) => {
  let waiting = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("data", (data) => {
    waiting = waiting.length === 0 ? data : Buffer.concat([waiting, data]);
    for (;;) {
      const end = waiting.indexOf(HEAD_END);
      if (end === -1) return;
      const head = waiting.toString("latin1", 0, end);
      const length = /content-length:\s*(\d+)/i.exec(head);
      let body;
      if (length !== null) {
        const size = end + 4 + Number(length[1]);
        if (waiting.length < size) return;
        body = waiting.toString("latin1", end + 4, size);
        waiting = waiting.subarray(size);
      } else {
        // A Worker that forwards a stream sends it without a content length.
        const last = waiting.indexOf("\r\n0\r\n\r\n", end);
        if (/transfer-encoding:\s*chunked/i.test(head) && last === -1) return;
        body = last === -1 ? "" : waiting.toString("latin1", end + 4, last);
        waiting = last === -1 ? waiting.subarray(end + 4) : waiting.subarray(last + 7);
      }
      answer(socket, body);
    }
  });
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());
