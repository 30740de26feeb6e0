// A chat-completions server with minimal cost, in its own process: precomputed bytes on raw sockets. The text of the
// request selects the answer: `[burst:N]` sends N chunks at once, `[live:N:MS]` sends N chunks with a pause between them,
// anything else gets a short answer. Every chunk contains its write time. Streams name the requested model, as engines do.
// Requests to a path of messages get streams of messages.
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

/** Formats one event as one chunk of a chunked body. */
function chunk(event) {
  return `${event.length.toString(16)}\r\n${event}\r\n`;
}

/** A stream of a protocol: its first and last chunks, and one with a text. */
function chatStream(model) {
  const head = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"${model}","choices":[`;
  const delta = (fields, reason = "null") =>
    `${head}{"index":0,"delta":${fields},"finish_reason":${reason}}]}\n\n`;
  const opening = [delta('{"role":"assistant","content":""}')];
  const closing = [
    delta("{}", '"stop"'),
    `${head}],"usage":{"prompt_tokens":12,"completion_tokens":11,"total_tokens":23}}\n\n`,
    "data: [DONE]\n\n",
  ];
  return { opening, closing, text: (text) => delta(`{"content":"${text}"}`) };
}

function messageStream(model) {
  const event = (type, fields) => `event: ${type}\ndata: {"type":"${type}",${fields}}\n\n`;
  const message = `"id":"msg_1","type":"message","role":"assistant","model":"${model}","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"output_tokens":1}`;
  return {
    opening: [
      event("message_start", `"message":{${message}}`),
      event("content_block_start", '"index":0,"content_block":{"type":"text","text":""}'),
    ],
    closing: [
      event("content_block_stop", '"index":0'),
      event(
        "message_delta",
        '"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":11}',
      ),
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ],
    text: (text) => event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"${text}"}`),
  };
}

/** The streams made so far, by protocol and model. */
const streams = new Map();

function streamOf(path, body) {
  const model = /"model":\s*"([^"]*)"/.exec(body)?.[1] ?? "m";
  const create = path.endsWith("/messages") ? messageStream : chatStream;
  const key = `${create.name} ${model}`;
  let stream = streams.get(key);
  if (stream === undefined) {
    stream = create(model);
    streams.set(key, stream);
  }
  return stream;
}

function answer(socket, path, body) {
  if (!/"stream":\s*true/.test(body)) return void socket.write(WHOLE_ANSWER);
  const { opening, closing, text } = streamOf(path, body);
  const first = STREAM_HEAD + opening.map(chunk).join("");
  const last = closing.map(chunk).join("") + LAST_CHUNK;
  const stamped = () => chunk(text(` t=${clockUs()};`));
  const burst = /\[burst:(\d+)\]/.exec(body);
  if (burst !== null) {
    let chunks = first;
    for (let left = Number(burst[1]); left > 0; left -= 1) chunks += stamped();
    return void socket.write(chunks + last);
  }
  const live = /\[live:(\d+):(\d+)\]/.exec(body);
  if (live === null) {
    // A short answer is complete at once, so all its events form one chunk of the body.
    const events = [...opening, text("An answer of a few words, as canned as it can be."), ...closing];
    return void socket.write(STREAM_HEAD + chunk(events.join("")) + LAST_CHUNK);
  }
  let left = Number(live[1]);
  socket.write(first + stamped());
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return void socket.write(stamped());
    clearInterval(timer);
    socket.write(last);
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
      const [, path = ""] = head.split(" ", 2);
      answer(socket, path, body);
    }
  });
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
process.on("disconnect", () => process.exit());
