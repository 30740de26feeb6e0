import { request as ask, createServer } from "node:http";
import { connect } from "node:net";

/**
 * A client's request and its response.
 *
 * @typedef {object} Exchange
 * @property {string} method `WEBSOCKET` for a WebSocket connection
 * @property {string} path
 * @property {Record<string, string | string[] | undefined>} headers
 * @property {string} body for a WebSocket: its messages, one per line
 * @property {number} status 0 until the response arrives
 * @property {string} answer body of the response; empty for a WebSocket
 */

/** Reads the texts in a client's frames (RFC 6455, section 5). Clients mask their frames. */
function readTexts(hear) {
  let bytes = Buffer.alloc(0);
  let text = "";
  return (data) => {
    bytes = Buffer.concat([bytes, data]);
    for (;;) {
      if (bytes.length < 2) return;
      const short = bytes[1] & 127;
      const start = short === 127 ? 10 : short === 126 ? 4 : 2;
      if (bytes.length < start + 4) return;
      const length =
        short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
      const end = start + 4 + length;
      if (bytes.length < end) return;
      const mask = bytes.subarray(start, start + 4);
      const opcode = bytes[0] & 15;
      if (opcode < 2)
        text += bytes
          .subarray(start + 4, end)
          .map((byte, n) => byte ^ mask[n & 3])
          .toString("utf8");
      if (opcode < 2 && bytes[0] & 128) {
        hear(text);
        text = "";
      }
      bytes = bytes.subarray(end);
    }
  };
}

/**
 * A recording proxy between clients and a gateway. Forwards everything unchanged.
 *
 * @param {string} target the gateway's URL
 * @returns {Promise<{ url: string, take: () => Exchange[], close: () => void }>} `take` returns the exchanges since its
 *   last call
 */
export async function tap(target) {
  const { hostname, port } = new URL(target);
  let heard = [];
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const exchange = { method, path, headers, body: "", status: 0, answer: "" };
    heard.push(exchange);
    const onward = ask({ hostname, port, method, path, headers }, (answer) => {
      exchange.status = answer.statusCode;
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.on("data", (data) => {
        exchange.answer += data;
      });
      answer.on("error", () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.on("data", (data) => {
      exchange.body += data;
    });
    incoming.pipe(onward);
  });
  server.on("upgrade", ({ method, url: path, headers }, socket, head) => {
    const exchange = { method: "WEBSOCKET", path, headers, body: "", status: 101, answer: "" };
    heard.push(exchange);
    // Remove the extension header: `readTexts` cannot read compressed frames.
    const { "sec-websocket-extensions": _, ...rest } = headers;
    const listen = readTexts((text) => {
      exchange.body += `${text}\n`;
    });
    const onward = connect(Number(port), hostname, () => {
      const lines = Object.entries(rest).map(([name, value]) => `${name}: ${value}\r\n`);
      onward.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
      onward.write(head);
      listen(head);
      socket.on("data", listen);
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [socket, onward]) {
      end.on("error", () => {
        socket.destroy();
        onward.destroy();
      });
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    take: () => {
      const taken = heard;
      heard = [];
      return taken;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
