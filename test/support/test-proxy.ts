import type { AddressInfo } from "node:net";
import { createServer, connect as dial, type Server, type Socket } from "node:net";

/** Options of a test proxy. */
export interface TestProxyOptions {
  readonly type: "http" | "socks5";
  /** Credentials that clients must send. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Rejects every target, like a proxy rule. */
  readonly refuse?: boolean;
  /** Rejects CONNECT, like many HTTP proxies for ports other than 443. */
  readonly refusesTunnels?: boolean;
  /** Sends nothing after accepting the connection. */
  readonly silent?: boolean;
}

/** A local proxy. Names under `.test` resolve to this machine. */
export interface TestProxy {
  readonly port: number;
  /** Requested targets in order: `host:port`. */
  readonly targets: string[];
  /** Number of open connections. */
  readonly open: number;
  close(): Promise<void>;
}

/** Starts a proxy on a free port. */
export async function startTestProxy(options: TestProxyOptions): Promise<TestProxy> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    sockets.add(client);
    client.on("close", () => sockets.delete(client));
    client.on("error", () => client.destroy());
    if (options.silent === true) {
      client.resume();
      return;
    }
    if (options.type === "http") serveHttp(client, options, targets);
    else serveSocks(client, options, targets);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    targets,
    get open() {
      return sockets.size;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Connects two sockets. Passes on the data that the client has already sent. */
function join(
  client: Socket,
  host: string,
  port: number,
  ready: (target: Socket) => void,
  failed: () => void,
): void {
  const target = dial({ host: host.endsWith(".test") ? "127.0.0.1" : host.replace(/^\[|\]$/g, ""), port });
  let joined = false;
  target.on("connect", () => {
    joined = true;
    ready(target);
    client.pipe(target);
    target.pipe(client);
  });
  target.on("error", () => (joined ? client.destroy() : failed()));
  client.on("close", () => target.destroy());
  // A pipe without a target stops reading, and would not notice that the client closes.
  target.on("close", () => client.resume());
}

function serveHttp(
  client: Socket,
  { credentials, refuse, refusesTunnels }: TestProxyOptions,
  targets: string[],
): void {
  let head = "";
  const onData = (bytes: Buffer) => {
    head += bytes.toString("latin1");
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    client.off("data", onData);
    client.pause();
    const rest = Buffer.from(head.slice(end + 4), "latin1");
    const lines = head.slice(0, end).split("\r\n");
    const [method = "", target = ""] = (lines[0] ?? "").split(" ");
    const wanted =
      credentials === undefined
        ? null
        : `basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64")}`.toLowerCase();
    const given = lines
      .find((line) => /^proxy-authorization:/i.test(line))
      ?.slice(20)
      .trim()
      .toLowerCase();
    const answer = (status: string): void => {
      client.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);
    };
    if (wanted !== null && given !== wanted) return answer("407 Proxy Authentication Required");
    const url = new URL(method === "CONNECT" ? `http://${target}` : target);
    const port = Number(url.port || 80);
    targets.push(`${url.hostname}:${port}`);
    if (refuse === true || (refusesTunnels === true && method === "CONNECT")) return answer("403 Forbidden");
    join(
      client,
      url.hostname,
      port,
      (upstream) => {
        if (method === "CONNECT") client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        else {
          const kept = lines.slice(1).filter((line) => !/^proxy-/i.test(line));
          upstream.write(
            `${[`${method} ${url.pathname}${url.search} HTTP/1.1`, ...kept].join("\r\n")}\r\n\r\n`,
          );
        }
        if (rest.length > 0) upstream.write(rest);
      },
      () => answer("502 Bad Gateway"),
    );
  };
  client.on("data", onData);
}

function serveSocks(client: Socket, { credentials, refuse }: TestProxyOptions, targets: string[]): void {
  let buffer = Buffer.alloc(0);
  let step: "greeting" | "password" | "request" = "greeting";
  const onData = (bytes: Buffer) => {
    buffer = Buffer.concat([buffer, bytes]);
    for (;;) {
      if (step === "greeting") {
        if (buffer.length < 2 || buffer.length < 2 + (buffer[1] ?? 0)) return;
        const methods = [...buffer.subarray(2, 2 + (buffer[1] ?? 0))];
        buffer = buffer.subarray(2 + (buffer[1] ?? 0));
        const method = credentials === undefined ? 0 : 2;
        if (!methods.includes(method)) return client.end(Uint8Array.of(5, 0xff));
        client.write(Uint8Array.of(5, method));
        step = method === 2 ? "password" : "request";
      } else if (step === "password") {
        const name = buffer[1] ?? 0;
        const secret = buffer[2 + name];
        if (secret === undefined || buffer.length < 3 + name + secret) return;
        const right =
          buffer.subarray(2, 2 + name).toString() === credentials?.username &&
          buffer.subarray(3 + name, 3 + name + secret).toString() === credentials?.password;
        buffer = buffer.subarray(3 + name + secret);
        if (!right) return client.end(Uint8Array.of(1, 1));
        client.write(Uint8Array.of(1, 0));
        step = "request";
      } else {
        const kind = buffer[3];
        const length = kind === 1 ? 4 : kind === 4 ? 16 : 1 + (buffer[4] ?? 0);
        if (kind === undefined || buffer.length < 6 + length) return;
        const raw = buffer.subarray(4, 4 + length);
        const host =
          kind === 3
            ? raw.subarray(1).toString()
            : kind === 1
              ? raw.join(".")
              : (raw.toString("hex").match(/.{4}/g) ?? []).join(":");
        const port = buffer.readUInt16BE(4 + length);
        const rest = buffer.subarray(6 + length);
        client.off("data", onData);
        client.pause();
        targets.push(`${host}:${port}`);
        const answer = (code: number) => Uint8Array.of(5, code, 0, 1, 0, 0, 0, 0, 0, 0);
        if (refuse === true) return client.end(answer(2));
        join(
          client,
          host,
          port,
          (upstream) => {
            client.write(answer(0));
            if (rest.length > 0) upstream.write(rest);
          },
          () => client.end(answer(5)),
        );
        return;
      }
    }
  };
  client.on("data", onData);
}
