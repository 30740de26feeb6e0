// Starts a browser whose every connection goes through a filter in this process, which looks names up itself and connects to public addresses only.
// What the filter refuses no page can reach, whatever it makes the browser do. Development and tests use it; in production the
// network of the browser's provider stands in its place.
//
//   node browser-egress.mjs <browser> [arguments of the browser ...]
//
// What the variable PAGE_PRIVATE_HOSTS lists may be reached all the same. Miniflare gives a browser no environment, so it is taken from the
// process that started this one: from its environment, or from the file that `allowPrivateHosts` wrote for it.
import { spawn } from "node:child_process";
import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { connect, createServer, isIP } from "node:net";
import { constants } from "node:os";
import { isPublicAddress } from "../src/pages/url-safety/addresses.ts";
import { privateHostsFile } from "./development.mjs";

const CONNECT_MS = 15_000;
// Replies of RFC 1928, section 6.
const GRANTED = 0;
const REFUSED = 2;
const NO_SUCH_HOST = 4;
const UNREACHABLE = 5;

const parent = process.ppid;

/** Whether a `host:port` pair is among those that may be reached although private. Tests add to them while the browser runs. */
function isListed(pair) {
  const environment = readIfExists(`/proc/${parent}/environ`).split("\0");
  const variable = environment.find((entry) => entry.startsWith("PAGE_PRIVATE_HOSTS="))?.slice(19) ?? "";
  const listed = `${variable},${readIfExists(privateHostsFile(parent))}`;
  return listed.split(",").some((entry) => entry.trim().toLowerCase() === pair);
}

function readIfExists(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Serves one connection of the browser (RFC 1928, without authentication). */
async function serve(client) {
  const read = reader(client);
  const [, methods] = await read(2);
  await read(methods);
  client.write(Uint8Array.of(5, 0));
  const [, command, , type] = await read(4);
  const host = await readHost(read, type);
  const port = (await read(2)).readUInt16BE();
  const answer = (reply) => client.write(Uint8Array.of(5, reply, 0, 1, 0, 0, 0, 0, 0, 0));
  const refuse = (reply) => {
    answer(reply);
    client.end();
  };
  if (command !== 1) return refuse(7);
  const address = await resolve(host, port);
  if (typeof address === "number") return refuse(address);
  const server = connect({ host: address, port, timeout: CONNECT_MS });
  server.once("timeout", () => server.destroy(new Error("timeout")));
  server.once("error", () =>
    server.connecting || !server.bytesRead ? refuse(UNREACHABLE) : client.destroy(),
  );
  server.once("connect", () => {
    server.setTimeout(0);
    server.setNoDelay(true);
    answer(GRANTED);
    read.pipeTo(server);
    server.pipe(client);
  });
  client.once("close", () => server.destroy());
  server.once("close", () => client.end());
}

async function readHost(read, type) {
  if (type === 3) return (await read((await read(1))[0])).toString("latin1").toLowerCase();
  const bytes = await read(type === 4 ? 16 : 4);
  if (type !== 4) return bytes.join(".");
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(":");
}

/** The address to connect to, or the reply that refuses. The address that was judged is the one that is used. */
async function resolve(host, port) {
  const listed = () => isListed(`${host.includes(":") ? `[${host}]` : host}:${port}`);
  if (isIP(host)) return isPublicAddress(host) || listed() ? host : REFUSED;
  const found = await lookup(host, { all: true }).catch(() => []);
  if (found.length === 0) return NO_SUCH_HOST;
  const allowed = found.find(({ address }) => isPublicAddress(address)) ?? (listed() ? found[0] : undefined);
  return allowed?.address ?? REFUSED;
}

/** Reads exact numbers of bytes from a socket; what is left flows on with `pipeTo`. */
function reader(socket) {
  let buffer = Buffer.alloc(0);
  let wanted = 0;
  let give = () => {};
  const take = () => {
    if (wanted === 0 || buffer.length < wanted) return;
    const bytes = buffer.subarray(0, wanted);
    buffer = buffer.subarray(wanted);
    wanted = 0;
    give(bytes);
  };
  const onData = (bytes) => {
    buffer = Buffer.concat([buffer, bytes]);
    take();
  };
  socket.on("data", onData);
  const read = (count) =>
    new Promise((resolve) => {
      wanted = count;
      give = resolve;
      if (count === 0) resolve(Buffer.alloc(0));
      else take();
    });
  read.pipeTo = (target) => {
    socket.off("data", onData);
    if (buffer.length > 0) target.write(buffer);
    socket.pipe(target);
  };
  return read;
}

const filter = createServer((client) => {
  client.setNoDelay(true);
  client.on("error", () => client.destroy());
  serve(client).catch(() => client.destroy());
});
filter.listen(0, "127.0.0.1", () => {
  const [browser, ...args] = process.argv.slice(2);
  const proxy = [
    `--proxy-server=socks5://127.0.0.1:${filter.address().port}`,
    // Browsers go round a proxy to their own machine unless told not to.
    "--proxy-bypass-list=<-loopback>",
  ];
  const child = spawn(browser, [...proxy, ...args], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`The browser could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
});
