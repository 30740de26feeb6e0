import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";

const read = (name: string) => readFileSync(join(import.meta.dirname, "fixtures/tls", name));

/** The certificate of the authority that the tests' servers have. */
export const TEST_AUTHORITY = read("ca.pem");

/** A TLS server in front of a gateway, for clients that speak nothing else. */
export interface TlsFront {
  /** Begins with `https:`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a TLS server that forwards all bytes to the port of `url`. */
export async function startTlsFront(url: () => string): Promise<TlsFront> {
  const server = createServer({ key: read("server.key"), cert: read("server.pem") }, (client) => {
    const { port } = new URL(url());
    const gateway = connect(Number(port), "127.0.0.1");
    client.pipe(gateway).pipe(client);
    for (const socket of [client, gateway]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        client.destroy();
        gateway.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("the server has no port");
  return {
    url: `https://localhost:${bound.port}`,
    close: async () => {
      server.close();
    },
  };
}
